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
from tfrewrite.analysis.eager_mode import otherwise_run
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
from tfrewrite.analysis.graph_options import graph_option
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
from tfrewrite.analysis.list_uses import ListUses
from tfrewrite.analysis.loop_headers import LoopHeaders
from tfrewrite.analysis.lost_logits import LostLogits
from tfrewrite.analysis.managers import Managers
from tfrewrite.analysis.mixed_parts import MixedParts
from tfrewrite.analysis.mixed_types import MixedTypes
from tfrewrite.analysis.model_traces import ModelTraces
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
from tfrewrite.analysis.part import Part
from tfrewrite.analysis.periods import Periods
from tfrewrite.analysis.pipeline_places import PipelinePlaces
from tfrewrite.analysis.pipelines import Pipelines
from tfrewrite.analysis.placeholders import Placeholders
from tfrewrite.analysis.plain_values import PlainValues
from tfrewrite.analysis.reached_once import ReachedOnce
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
from tfrewrite.analysis.step_runs import StepRuns
from tfrewrite.analysis.step_traces import StepTraces
from tfrewrite.analysis.taken_batches import TakenBatches
from tfrewrite.analysis.tensor_uses import TensorUses
from tfrewrite.analysis.trace_effects import TraceEffects
from tfrewrite.analysis.traced_code import TracedCode
from tfrewrite.analysis.tracing import Tracing
from tfrewrite.analysis.trained_models import TrainedModels
from tfrewrite.analysis.turn_values import TurnValues
from tfrewrite.analysis.unread import Unread
from tfrewrite.analysis.unrolled import UnrolledLoops
from tfrewrite.analysis.untouched_data import UntouchedData
from tfrewrite.analysis.ways import Ways
from tfrewrite.analysis.xla import Xla
from tfrewrite.model import DEFAULT_CONTRACTS, Contract


class Facts:
    """The shared analysis of one file."""

    flow = Part(Flow)
    """In which order things happen."""
    managers = Part(Managers)
    """What the managers of `with` statements may do."""
    classes = Part(Classes)
    """The classes of the file and what their attributes hold."""
    containers = Part(Containers)
    """What becomes of lists and dicts."""
    feed_helpers = Part(FeedHelpers)
    """The functions of the file that make dicts to feed."""
    feeds = Part(Feeds)
    """What runs are fed with."""
    graph = Part(Tracer)
    """Which TensorFlow calls a value is made of."""
    catching = Part(Catching)
    """What may catch an exception and let the program go on."""
    keras_masks = Part(KerasMasks)
    """Whether layers of the file put masks on what they give."""
    handlers = Part(Handlers)
    """What looks into an exception."""
    fixed_fetches = Part(FixedFetches)
    """What runs fetch in each turn of a loop."""
    dynamics = Part(Dynamics)
    """What makes the rest of the analysis worthless."""
    sessions = Part(Sessions)
    """Where the graph is run."""
    opened_sessions = Part(OpenedSessions)
    """Where sessions are opened."""
    step_runs = Part(StepRuns)
    """The runs that a step makes."""
    helper_runs = Part(HelperRuns)
    """Runs that stand alone in functions, seen from the steps that call these."""
    moves = Part(Moves)
    """What a run of the graph may be moved past."""
    reports = Part(Reports)
    """Whether a value is only shown, or acts."""
    plain_values = Part(PlainValues)
    """Which values are ordinary ones."""
    ownership = Part(Ownership)
    """Which objects belong to one variable alone."""
    own_calls = Part(OwnCalls)
    """The functions of the file and their callers."""
    late_reads = Part(LateReads)
    """What functions find in the module's variables, called as late as they are."""
    pipelines = Part(Pipelines)
    """The tf.data pipelines, and who consumes them."""
    read_ahead = Part(ReadAhead)
    """Whether anybody could tell that a pipeline is read ahead."""
    eager_runs = Part(EagerRuns)
    """Whether models that are told to run eagerly may run as graphs."""
    first_elements = Part(FirstElements)
    """Iterators that a loop makes for one element each."""
    parallel_maps = Part(ParallelMaps)
    """Whether anybody could tell that a map works on several elements at a time."""
    element_code = Part(ElementCode)
    """What the functions of a pipeline do."""
    generators = Part(Generators)
    """What the generators of a pipeline do."""
    changed_sources = Part(ChangedSources)
    """What changes the arrays and files that a pipeline reads."""
    settled = Part(Settled)
    """Which values do not change any more."""
    iterators = Part(Iterators)
    """What is an iterator over a pipeline."""
    captured = Part(Captured)
    """What functions take from outside."""
    untouched_data = Part(UntouchedData)
    """Data that nothing changes any more."""
    unread = Part(Unread)
    """Which values get a name that nobody reads."""
    seeds = Part(Seeds)
    """Where the draws of random ops come from."""
    hoisting = Part(Hoisting)
    """The way out of loops."""
    afterwards = Part(Afterwards)
    """What may still be done from a statement on."""
    beforehand = Part(Beforehand)
    """What may have been done before a statement."""
    collected_summaries = Part(CollectedSummaries)
    """What `merge_all` collects."""
    building = Part(Building)
    """What adds ops to a graph."""
    numbers = Part(Numbers)
    """Which sort of number a value is."""
    settings = Part(Settings)
    """What the command line or flags give."""
    assigns = Part(Assigns)
    """What is assigned to variables of a graph."""
    graph_readers = Part(GraphReaders)
    """What looks at the ops of a graph, or closes it."""
    next_elements = Part(NextElements)
    """What is taken from iterators of a graph."""
    built_values = Part(BuiltValues)
    """What is done with what the graph is built of."""
    op_making = Part(OpMaking)
    """Whether ops that are made in each turn of a loop can be made once."""
    savers = Part(Savers)
    """The savers that loops make."""
    op_names = Part(OpNames)
    """Where the names of ops are shown."""
    conditions = Part(Conditions)
    """What keeps a loop from evaluating a part of its body."""
    operands = Part(Operands)
    """Whether what ops are made of stays the same."""
    loop_headers = Part(LoopHeaders)
    """What loops go over, beneath a bar."""
    data_values = Part(DataValues)
    """Which values are data."""
    turn_values = Part(TurnValues)
    """What a turn of a loop has of its own."""
    fed_loops = Part(FedLoops)
    """Whether loops take one batch in each turn."""
    batch_making = Part(BatchMaking)
    """What makes a batch."""
    batch_uses = Part(BatchUses)
    """What else uses a batch."""
    fed_batches = Part(FedBatches)
    """What loops make and feed in each turn."""
    fetched_batches = Part(FetchedBatches)
    """Which batches runs of their own may fetch."""
    fed_keys = Part(FedKeys)
    """Which tensors keys of feeds are."""
    taken_batches = Part(TakenBatches)
    """Whether runs take the elements that are made for them."""
    pipeline_places = Part(PipelinePlaces)
    """Whether a graph may get a pipeline, and where."""
    fed_tensors = Part(FedTensors)
    """Tensors that runs are fed with."""
    running_pipelines = Part(RunningPipelines)
    """Which pipelines code may run."""
    batches_ahead = Part(BatchesAhead)
    """Whether batches can be made ahead unseen."""
    new_objects = Part(NewObjects)
    """Which values are objects made anew."""
    batch_code = Part(BatchCode)
    """What the code that makes a batch does."""
    reached_once = Part(ReachedOnce)
    """Which places are reached at most once."""
    list_uses = Part(ListUses)
    """Which uses leave a list or dict of eager code as it is."""
    eager_values = Part(EagerValues)
    """What names and expressions stand for in eager mode."""
    tracing = Part(Tracing)
    """Whether functions may be traced once and replayed."""
    inline_steps = Part(InlineSteps)
    """The steps that loops have written out in their bodies."""
    step_names = Part(StepNames)
    """What steps in loops would be given by names, and give back."""
    list_lengths = Part(ListLengths)
    """Which lists have the same length each time."""
    step_functions = Part(StepFunctions)
    """The functions that make one step of a training loop."""
    step_traces = Part(StepTraces)
    """Whether these may be traced once and replayed."""
    lost_logits = Part(LostLogits)
    """Whether crossentropies miss what a trace does not hand on."""
    kept_losses = Part(KeptLosses)
    """Losses that layers leave behind, and who looks for them."""
    forward_steps = Part(ForwardSteps)
    """The functions without a tape that loops call turn by turn."""
    forward_stretches = Part(ForwardStretches)
    """The stretches without a tape of what loops do turn by turn."""
    call_shapes = Part(CallShapes)
    """Whether what a function is given has another shape each time."""
    ways = Part(Ways)
    """How values come from where they are made to where they are used."""
    placeholders = Part(Placeholders)
    """The placeholders that feeds name."""
    default_graphs = Part(DefaultGraphs)
    """Which graph is the default one."""
    keras_models = Part(KerasModels)
    """Which objects are Keras models."""
    model_traces = Part(ModelTraces)
    """Whether another trace of a Keras model would do the same."""
    trained_models = Part(TrainedModels)
    """The models that `fit` trains with steps of Keras' own."""
    fit_callbacks = Part(FitCallbacks)
    """What is called while `fit` trains."""
    fit_steps = Part(FitSteps)
    """How many batches `fit` may take at once."""
    layer_uses = Part(LayerUses)
    """What is done with the layers of a file."""
    mixed_parts = Part(MixedParts)
    """What of a program was not tried in half precision."""
    mixed_types = Part(MixedTypes)
    """Whether the model of a file may compute in half precision."""
    xla = Part(Xla)
    """What XLA compiles."""
    keras_calls = Part(KerasCalls)
    """The methods of models that are called again and again."""
    batch_rows = Part(BatchRows)
    """How many rows an array has."""
    row_order = Part(RowOrder)
    """Whether models could tell in which order rows come."""
    compiled_functions = Part(CompiledFunctions)
    """What is a `tf.function`, and who calls it."""
    traced_code = Part(TracedCode)
    """What runs when a `tf.function` is traced."""
    trace_effects = Part(TraceEffects)
    """What happens when a `tf.function` is traced, and only then."""
    held_values = Part(HeldValues)
    """What names and attributes hold that traced code reads."""
    steady_traces = Part(SteadyTraces)
    """Whether one trace of a `tf.function` is as good as many."""
    float_tensors = Part(FloatTensors)
    """Which tensors of traced code are float32."""
    number_uses = Part(NumberUses)
    """What traced code does with the numbers that it is given."""
    unrolled_loops = Part(UnrolledLoops)
    """Which loops a trace unrolls."""
    graph_option = Part(graph_option)
    """An option that only compiled code heeds, in words; empty where the file sets none."""
    otherwise_run = Part(otherwise_run)
    """Why functions are not run as TensorFlow 2 runs them, in words; empty where they are."""
    eager_code = Part(EagerCode)
    """What surely runs op by op."""
    tensor_uses = Part(TensorUses)
    """Whether anybody could tell which object a tensor is."""
    steady_constants = Part(SteadyConstants)
    """The tensors that loops make of the same values in each turn."""
    scalar_tensors = Part(ScalarTensors)
    """Which values are tensors of one number."""
    host_reads = Part(HostReads)
    """What loops read for Python in each turn."""
    accumulators = Part(Accumulators)
    """The lists in which gradients are summed over several turns of a loop."""
    periods = Part(Periods)
    """In which turns of a loop something is executed."""
    left_files = Part(LeftFiles)
    """Files that loops leave behind in each turn."""

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
    def squashing(self) -> int:
        """The first line that names a softmax or sigmoid of TensorFlow's; 0 where none does."""
        nodes = [*self.source.all(ast.Attribute), *self.source.all(ast.Name)]
        lines = [one.lineno for one in nodes if self.names.tf(one) in SQUASHING]
        return min(lines, default=0)
