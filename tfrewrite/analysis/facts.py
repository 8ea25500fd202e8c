"""Everything that the rules may ask about one file, each part made when it is first asked for."""

from __future__ import annotations

import ast
from functools import cached_property

from tfrewrite.analysis.accumulators import Accumulators
from tfrewrite.analysis.afterwards import Afterwards
from tfrewrite.analysis.assigns import Assigns
from tfrewrite.analysis.batch_code import BatchCode
from tfrewrite.analysis.batch_making import BatchMaking
from tfrewrite.analysis.batch_rows import BatchRows
from tfrewrite.analysis.batch_uses import BatchUses
from tfrewrite.analysis.batches_ahead import BatchesAhead
from tfrewrite.analysis.beforehand import Beforehand
from tfrewrite.analysis.building import Building
from tfrewrite.analysis.built_values import BuiltValues
from tfrewrite.analysis.call_shapes import CallShapes
from tfrewrite.analysis.captured import Captured
from tfrewrite.analysis.catching import Catching
from tfrewrite.analysis.changed_sources import ChangedSources
from tfrewrite.analysis.classes import Classes
from tfrewrite.analysis.collected_summaries import CollectedSummaries
from tfrewrite.analysis.compiled_functions import CompiledFunctions
from tfrewrite.analysis.conditions import Conditions
from tfrewrite.analysis.containers import Containers
from tfrewrite.analysis.data_values import DataValues
from tfrewrite.analysis.default_graphs import DefaultGraphs
from tfrewrite.analysis.dynamics import Dynamics
from tfrewrite.analysis.eager_code import EagerCode
from tfrewrite.analysis.eager_runs import EagerRuns
from tfrewrite.analysis.eager_values import EagerValues
from tfrewrite.analysis.element_code import ElementCode
from tfrewrite.analysis.fed_batches import FedBatches
from tfrewrite.analysis.fed_keys import FedKeys
from tfrewrite.analysis.fed_loops import FedLoops
from tfrewrite.analysis.fed_tensors import FedTensors
from tfrewrite.analysis.feed_helpers import FeedHelpers
from tfrewrite.analysis.feeds import Feeds
from tfrewrite.analysis.fetched_batches import FetchedBatches
from tfrewrite.analysis.first_elements import FirstElements
from tfrewrite.analysis.fit_callbacks import FitCallbacks
from tfrewrite.analysis.fit_steps import FitSteps
from tfrewrite.analysis.fixed_fetches import FixedFetches
from tfrewrite.analysis.float_tensors import FloatTensors
from tfrewrite.analysis.flow import Flow
from tfrewrite.analysis.forward_steps import ForwardSteps
from tfrewrite.analysis.forward_stretches import ForwardStretches
from tfrewrite.analysis.generators import Generators
from tfrewrite.analysis.graph import Tracer
from tfrewrite.analysis.graph_readers import GraphReaders
from tfrewrite.analysis.handlers import Handlers
from tfrewrite.analysis.held_values import HeldValues
from tfrewrite.analysis.helper_runs import HelperRuns
from tfrewrite.analysis.hoisting import Hoisting
from tfrewrite.analysis.host_reads import HostReads
from tfrewrite.analysis.inline_steps import InlineSteps
from tfrewrite.analysis.iterators import Iterators
from tfrewrite.analysis.kept_losses import KeptLosses
from tfrewrite.analysis.keras_calls import KerasCalls
from tfrewrite.analysis.keras_masks import KerasMasks
from tfrewrite.analysis.keras_models import KerasModels
from tfrewrite.analysis.keras_things import SQUASHING
from tfrewrite.analysis.late_reads import LateReads
from tfrewrite.analysis.layer_uses import LayerUses
from tfrewrite.analysis.left_files import LeftFiles
from tfrewrite.analysis.list_lengths import ListLengths
from tfrewrite.analysis.loop_headers import LoopHeaders
from tfrewrite.analysis.lost_logits import LostLogits
from tfrewrite.analysis.managers import Managers
from tfrewrite.analysis.mixed_parts import MixedParts
from tfrewrite.analysis.mixed_types import MixedTypes
from tfrewrite.analysis.moves import Moves
from tfrewrite.analysis.names import Names
from tfrewrite.analysis.new_objects import NewObjects
from tfrewrite.analysis.next_elements import NextElements
from tfrewrite.analysis.number_uses import NumberUses
from tfrewrite.analysis.numbers import Numbers
from tfrewrite.analysis.op_making import OpMaking
from tfrewrite.analysis.op_names import OpNames
from tfrewrite.analysis.opened_sessions import OpenedSessions
from tfrewrite.analysis.operands import Operands
from tfrewrite.analysis.own_calls import OwnCalls
from tfrewrite.analysis.ownership import Ownership
from tfrewrite.analysis.parallel_maps import ParallelMaps
from tfrewrite.analysis.periods import Periods
from tfrewrite.analysis.pipelines import Pipelines
from tfrewrite.analysis.placeholders import Placeholders
from tfrewrite.analysis.plain_values import PlainValues
from tfrewrite.analysis.read_ahead import ReadAhead
from tfrewrite.analysis.reported import Reports
from tfrewrite.analysis.row_order import RowOrder
from tfrewrite.analysis.running_pipelines import RunningPipelines
from tfrewrite.analysis.savers import Savers
from tfrewrite.analysis.scalar_tensors import ScalarTensors
from tfrewrite.analysis.scopes import Scopes
from tfrewrite.analysis.seeds import Seeds
from tfrewrite.analysis.sessions import Sessions
from tfrewrite.analysis.settings import Settings
from tfrewrite.analysis.settled import Settled
from tfrewrite.analysis.source import Source
from tfrewrite.analysis.steady_constants import SteadyConstants
from tfrewrite.analysis.steady_traces import SteadyTraces
from tfrewrite.analysis.step_functions import StepFunctions
from tfrewrite.analysis.step_names import StepNames
from tfrewrite.analysis.taken_batches import TakenBatches
from tfrewrite.analysis.tensor_uses import TensorUses
from tfrewrite.analysis.trace_effects import TraceEffects
from tfrewrite.analysis.traced_code import TracedCode
from tfrewrite.analysis.tracing import Tracing
from tfrewrite.analysis.trained_models import TrainedModels
from tfrewrite.analysis.turn_values import TurnValues
from tfrewrite.analysis.unread import Unread
from tfrewrite.analysis.unrolled import UnrolledLoops
from tfrewrite.analysis.ways import Ways
from tfrewrite.analysis.xla import Xla
from tfrewrite.model import DEFAULT_CONTRACTS, Contract


class Facts:
    """The shared analysis of one file."""

    def __init__(
        self,
        source: Source,
        target_tf: tuple[int, ...] | None,
        allowed: frozenset[Contract],
    ) -> None:
        self.source = source
        self.target_tf = target_tf
        self.allowed = allowed

    @classmethod
    def build(
        cls,
        text: str,
        tree: ast.Module,
        *,
        target_tf: tuple[int, ...] | None = None,
        allowed: frozenset[Contract] = DEFAULT_CONTRACTS,
    ) -> Facts:
        return cls(Source(text, tree), target_tf, allowed)

    @cached_property
    def scopes(self) -> Scopes:
        """Who binds which name."""
        return Scopes(self.source)

    @cached_property
    def names(self) -> Names:
        """Which library API a name is."""
        return Names(self.scopes)

    @cached_property
    def flow(self) -> Flow:
        """In which order things happen."""
        return Flow(self)

    @cached_property
    def managers(self) -> Managers:
        """What the managers of `with` statements may do."""
        return Managers(self)

    @cached_property
    def classes(self) -> Classes:
        """The classes of the file and what their attributes hold."""
        return Classes(self)

    @cached_property
    def containers(self) -> Containers:
        """What becomes of lists and dicts."""
        return Containers(self)

    @cached_property
    def feed_helpers(self) -> FeedHelpers:
        """The functions of the file that make dicts to feed."""
        return FeedHelpers(self)

    @cached_property
    def feeds(self) -> Feeds:
        """What runs are fed with."""
        return Feeds(self)

    @cached_property
    def graph(self) -> Tracer:
        """Which TensorFlow calls a value is made of."""
        return Tracer(self)

    @cached_property
    def catching(self) -> Catching:
        """What may catch an exception and let the program go on."""
        return Catching(self)

    @cached_property
    def keras_masks(self) -> KerasMasks:
        """Whether layers of the file put masks on what they give."""
        return KerasMasks(self)

    @cached_property
    def squashing(self) -> int:
        """The first line that names a softmax or sigmoid of TensorFlow's; 0 where none does."""
        nodes = [*self.source.all(ast.Attribute), *self.source.all(ast.Name)]
        lines = [one.lineno for one in nodes if self.names.tf(one) in SQUASHING]
        return min(lines, default=0)

    @cached_property
    def handlers(self) -> Handlers:
        """What looks into an exception."""
        return Handlers(self)

    @cached_property
    def fixed_fetches(self) -> FixedFetches:
        """What runs fetch in each turn of a loop."""
        return FixedFetches(self)

    @cached_property
    def dynamics(self) -> Dynamics:
        """What makes the rest of the analysis worthless."""
        return Dynamics(self)

    @cached_property
    def sessions(self) -> Sessions:
        """Where the graph is run."""
        return Sessions(self)

    @cached_property
    def opened_sessions(self) -> OpenedSessions:
        """Where sessions are opened."""
        return OpenedSessions(self)

    @cached_property
    def helper_runs(self) -> HelperRuns:
        """Runs that stand alone in functions, seen from the steps that call these."""
        return HelperRuns(self)

    @cached_property
    def moves(self) -> Moves:
        """What a run of the graph may be moved past."""
        return Moves(self)

    @cached_property
    def reports(self) -> Reports:
        """Whether a value is only shown, or acts."""
        return Reports(self)

    @cached_property
    def plain_values(self) -> PlainValues:
        """Which values are ordinary ones."""
        return PlainValues(self)

    @cached_property
    def ownership(self) -> Ownership:
        """Which objects belong to one variable alone."""
        return Ownership(self)

    @cached_property
    def own_calls(self) -> OwnCalls:
        """The functions of the file and their callers."""
        return OwnCalls(self)

    @cached_property
    def late_reads(self) -> LateReads:
        """What functions find in the module's variables, called as late as they are."""
        return LateReads(self)

    @cached_property
    def pipelines(self) -> Pipelines:
        """The tf.data pipelines, and who consumes them."""
        return Pipelines(self)

    @cached_property
    def read_ahead(self) -> ReadAhead:
        """Whether anybody could tell that a pipeline is read ahead."""
        return ReadAhead(self)

    @cached_property
    def eager_runs(self) -> EagerRuns:
        """Whether models that are told to run eagerly may run as graphs."""
        return EagerRuns(self)

    @cached_property
    def first_elements(self) -> FirstElements:
        """Iterators that a loop makes for one element each."""
        return FirstElements(self)

    @cached_property
    def parallel_maps(self) -> ParallelMaps:
        """Whether anybody could tell that a map works on several elements at a time."""
        return ParallelMaps(self)

    @cached_property
    def element_code(self) -> ElementCode:
        """What the functions of a pipeline do."""
        return ElementCode(self)

    @cached_property
    def generators(self) -> Generators:
        """What the generators of a pipeline do."""
        return Generators(self)

    @cached_property
    def changed_sources(self) -> ChangedSources:
        """What changes the arrays and files that a pipeline reads."""
        return ChangedSources(self)

    @cached_property
    def settled(self) -> Settled:
        """Which values do not change any more."""
        return Settled(self)

    @cached_property
    def iterators(self) -> Iterators:
        """What is an iterator over a pipeline."""
        return Iterators(self)

    @cached_property
    def captured(self) -> Captured:
        """What functions take from outside."""
        return Captured(self)

    @cached_property
    def unread(self) -> Unread:
        """Which values get a name that nobody reads."""
        return Unread(self)

    @cached_property
    def seeds(self) -> Seeds:
        """Where the draws of random ops come from."""
        return Seeds(self)

    @cached_property
    def hoisting(self) -> Hoisting:
        """The way out of loops."""
        return Hoisting(self)

    @cached_property
    def afterwards(self) -> Afterwards:
        """What may still be done from a statement on."""
        return Afterwards(self)

    @cached_property
    def beforehand(self) -> Beforehand:
        """What may have been done before a statement."""
        return Beforehand(self)

    @cached_property
    def collected_summaries(self) -> CollectedSummaries:
        """What `merge_all` collects."""
        return CollectedSummaries(self)

    @cached_property
    def building(self) -> Building:
        """What adds ops to a graph."""
        return Building(self)

    @cached_property
    def numbers(self) -> Numbers:
        """Which sort of number a value is."""
        return Numbers(self)

    @cached_property
    def settings(self) -> Settings:
        """What the command line or flags give."""
        return Settings(self)

    @cached_property
    def assigns(self) -> Assigns:
        """What is assigned to variables of a graph."""
        return Assigns(self)

    @cached_property
    def graph_readers(self) -> GraphReaders:
        """What looks at the ops of a graph, or closes it."""
        return GraphReaders(self)

    @cached_property
    def next_elements(self) -> NextElements:
        """What is taken from iterators of a graph."""
        return NextElements(self)

    @cached_property
    def built_values(self) -> BuiltValues:
        """What is done with what the graph is built of."""
        return BuiltValues(self)

    @cached_property
    def op_making(self) -> OpMaking:
        """Whether ops that are made in each turn of a loop can be made once."""
        return OpMaking(self)

    @cached_property
    def savers(self) -> Savers:
        """The savers that loops make."""
        return Savers(self)

    @cached_property
    def op_names(self) -> OpNames:
        """Where the names of ops are shown."""
        return OpNames(self)

    @cached_property
    def conditions(self) -> Conditions:
        """What keeps a loop from evaluating a part of its body."""
        return Conditions(self)

    @cached_property
    def operands(self) -> Operands:
        """Whether what ops are made of stays the same."""
        return Operands(self)

    @cached_property
    def loop_headers(self) -> LoopHeaders:
        """What loops go over, beneath a bar."""
        return LoopHeaders(self)

    @cached_property
    def data_values(self) -> DataValues:
        """Which values are data."""
        return DataValues(self)

    @cached_property
    def turn_values(self) -> TurnValues:
        """What a turn of a loop has of its own."""
        return TurnValues(self)

    @cached_property
    def fed_loops(self) -> FedLoops:
        """Whether loops take one batch in each turn."""
        return FedLoops(self)

    @cached_property
    def batch_making(self) -> BatchMaking:
        """What makes a batch."""
        return BatchMaking(self)

    @cached_property
    def batch_uses(self) -> BatchUses:
        """What else uses a batch."""
        return BatchUses(self)

    @cached_property
    def fed_batches(self) -> FedBatches:
        """What loops make and feed in each turn."""
        return FedBatches(self)

    @cached_property
    def fetched_batches(self) -> FetchedBatches:
        """Which batches runs of their own may fetch."""
        return FetchedBatches(self)

    @cached_property
    def fed_keys(self) -> FedKeys:
        """Which tensors keys of feeds are."""
        return FedKeys(self)

    @cached_property
    def taken_batches(self) -> TakenBatches:
        """Whether runs take the elements that are made for them."""
        return TakenBatches(self)

    @cached_property
    def fed_tensors(self) -> FedTensors:
        """Tensors that runs are fed with."""
        return FedTensors(self)

    @cached_property
    def running_pipelines(self) -> RunningPipelines:
        """Which pipelines code may run."""
        return RunningPipelines(self)

    @cached_property
    def batches_ahead(self) -> BatchesAhead:
        """Whether batches can be made ahead unseen."""
        return BatchesAhead(self)

    @cached_property
    def new_objects(self) -> NewObjects:
        """Which values are objects made anew."""
        return NewObjects(self)

    @cached_property
    def batch_code(self) -> BatchCode:
        """What the code that makes a batch does."""
        return BatchCode(self)

    @cached_property
    def eager_values(self) -> EagerValues:
        """What names and expressions stand for in eager mode."""
        return EagerValues(self)

    @cached_property
    def tracing(self) -> Tracing:
        """Whether functions may be traced once and replayed."""
        return Tracing(self)

    @cached_property
    def inline_steps(self) -> InlineSteps:
        """The steps that loops have written out in their bodies."""
        return InlineSteps(self)

    @cached_property
    def step_names(self) -> StepNames:
        """What steps in loops would be given by names, and give back."""
        return StepNames(self)

    @cached_property
    def list_lengths(self) -> ListLengths:
        """Which lists have the same length each time."""
        return ListLengths(self)

    @cached_property
    def step_functions(self) -> StepFunctions:
        """The functions that make one step of a training loop."""
        return StepFunctions(self)

    @cached_property
    def lost_logits(self) -> LostLogits:
        """Whether crossentropies miss what a trace does not hand on."""
        return LostLogits(self)

    @cached_property
    def kept_losses(self) -> KeptLosses:
        """Losses that layers leave behind, and who looks for them."""
        return KeptLosses(self)

    @cached_property
    def forward_steps(self) -> ForwardSteps:
        """The functions without a tape that loops call turn by turn."""
        return ForwardSteps(self)

    @cached_property
    def forward_stretches(self) -> ForwardStretches:
        """The stretches without a tape of what loops do turn by turn."""
        return ForwardStretches(self)

    @cached_property
    def call_shapes(self) -> CallShapes:
        """Whether what a function is given has another shape each time."""
        return CallShapes(self)

    @cached_property
    def ways(self) -> Ways:
        """How values come from where they are made to where they are used."""
        return Ways(self)

    @cached_property
    def placeholders(self) -> Placeholders:
        """The placeholders that feeds name."""
        return Placeholders(self)

    @cached_property
    def default_graphs(self) -> DefaultGraphs:
        """Which graph is the default one."""
        return DefaultGraphs(self)

    @cached_property
    def keras_models(self) -> KerasModels:
        """Which objects are Keras models."""
        return KerasModels(self)

    @cached_property
    def trained_models(self) -> TrainedModels:
        """The models that `fit` trains with steps of Keras' own."""
        return TrainedModels(self)

    @cached_property
    def fit_callbacks(self) -> FitCallbacks:
        """What is called while `fit` trains."""
        return FitCallbacks(self)

    @cached_property
    def fit_steps(self) -> FitSteps:
        """How many batches `fit` may take at once."""
        return FitSteps(self)

    @cached_property
    def layer_uses(self) -> LayerUses:
        """What is done with the layers of a file."""
        return LayerUses(self)

    @cached_property
    def mixed_parts(self) -> MixedParts:
        """What of a program was not tried in half precision."""
        return MixedParts(self)

    @cached_property
    def mixed_types(self) -> MixedTypes:
        """Whether the model of a file may compute in half precision."""
        return MixedTypes(self)

    @cached_property
    def xla(self) -> Xla:
        """What XLA compiles."""
        return Xla(self)

    @cached_property
    def keras_calls(self) -> KerasCalls:
        """The methods of models that are called again and again."""
        return KerasCalls(self)

    @cached_property
    def batch_rows(self) -> BatchRows:
        """How many rows an array has."""
        return BatchRows(self)

    @cached_property
    def row_order(self) -> RowOrder:
        """Whether models could tell in which order rows come."""
        return RowOrder(self)

    @cached_property
    def compiled_functions(self) -> CompiledFunctions:
        """What is a `tf.function`, and who calls it."""
        return CompiledFunctions(self)

    @cached_property
    def traced_code(self) -> TracedCode:
        """What runs when a `tf.function` is traced."""
        return TracedCode(self)

    @cached_property
    def trace_effects(self) -> TraceEffects:
        """What happens when a `tf.function` is traced, and only then."""
        return TraceEffects(self)

    @cached_property
    def held_values(self) -> HeldValues:
        """What names and attributes hold that traced code reads."""
        return HeldValues(self)

    @cached_property
    def steady_traces(self) -> SteadyTraces:
        """Whether one trace of a `tf.function` is as good as many."""
        return SteadyTraces(self)

    @cached_property
    def float_tensors(self) -> FloatTensors:
        """Which tensors of traced code are float32."""
        return FloatTensors(self)

    @cached_property
    def number_uses(self) -> NumberUses:
        """What traced code does with the numbers that it is given."""
        return NumberUses(self)

    @cached_property
    def unrolled_loops(self) -> UnrolledLoops:
        """Which loops a trace unrolls."""
        return UnrolledLoops(self)

    @cached_property
    def eager_code(self) -> EagerCode:
        """What surely runs op by op."""
        return EagerCode(self)

    @cached_property
    def tensor_uses(self) -> TensorUses:
        """Whether anybody could tell which object a tensor is."""
        return TensorUses(self)

    @cached_property
    def steady_constants(self) -> SteadyConstants:
        """The tensors that loops make of the same values in each turn."""
        return SteadyConstants(self)

    @cached_property
    def scalar_tensors(self) -> ScalarTensors:
        """Which values are tensors of one number."""
        return ScalarTensors(self)

    @cached_property
    def host_reads(self) -> HostReads:
        """What loops read for Python in each turn."""
        return HostReads(self)

    @cached_property
    def accumulators(self) -> Accumulators:
        """The lists in which gradients are summed over several turns of a loop."""
        return Accumulators(self)

    @cached_property
    def periods(self) -> Periods:
        """In which turns of a loop something is executed."""
        return Periods(self)

    @cached_property
    def left_files(self) -> LeftFiles:
        """Files that loops leave behind in each turn."""
        return LeftFiles(self)
