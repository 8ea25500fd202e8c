"""Everything that the rules may ask about one file, each part made when it is first asked for."""

from __future__ import annotations

import ast
from functools import cached_property

from tfrewrite.analysis.batches.batch_code import BatchCode
from tfrewrite.analysis.batches.batch_making import BatchMaking
from tfrewrite.analysis.batches.batch_uses import BatchUses
from tfrewrite.analysis.batches.batches_ahead import BatchesAhead
from tfrewrite.analysis.batches.fed_batches import FedBatches
from tfrewrite.analysis.batches.fed_keys import FedKeys
from tfrewrite.analysis.batches.fed_loops import FedLoops
from tfrewrite.analysis.batches.fed_tensors import FedTensors
from tfrewrite.analysis.batches.feed_helpers import FeedHelpers
from tfrewrite.analysis.batches.fetched_batches import FetchedBatches
from tfrewrite.analysis.batches.pipeline_places import PipelinePlaces
from tfrewrite.analysis.batches.taken_batches import TakenBatches
from tfrewrite.analysis.eager.accumulators import Accumulators
from tfrewrite.analysis.eager.call_shapes import CallShapes
from tfrewrite.analysis.eager.eager_code import EagerCode
from tfrewrite.analysis.eager.eager_mode import otherwise_run
from tfrewrite.analysis.eager.eager_runs import EagerRuns
from tfrewrite.analysis.eager.eager_values import EagerValues
from tfrewrite.analysis.eager.endings import Endings
from tfrewrite.analysis.eager.forward_steps import ForwardSteps
from tfrewrite.analysis.eager.forward_stretches import ForwardStretches
from tfrewrite.analysis.eager.host_reads import HostReads
from tfrewrite.analysis.eager.inline_steps import InlineSteps
from tfrewrite.analysis.eager.list_lengths import ListLengths
from tfrewrite.analysis.eager.list_uses import ListUses
from tfrewrite.analysis.eager.scalar_tensors import ScalarTensors
from tfrewrite.analysis.eager.steady_constants import SteadyConstants
from tfrewrite.analysis.eager.step_functions import StepFunctions
from tfrewrite.analysis.eager.step_names import StepNames
from tfrewrite.analysis.eager.tensor_uses import TensorUses
from tfrewrite.analysis.graphs.assigns import Assigns
from tfrewrite.analysis.graphs.building import Building
from tfrewrite.analysis.graphs.built_values import BuiltValues
from tfrewrite.analysis.graphs.collected_summaries import CollectedSummaries
from tfrewrite.analysis.graphs.default_graphs import DefaultGraphs
from tfrewrite.analysis.graphs.feeds import Feeds
from tfrewrite.analysis.graphs.fixed_fetches import FixedFetches
from tfrewrite.analysis.graphs.graph import Tracer
from tfrewrite.analysis.graphs.graph_readers import GraphReaders
from tfrewrite.analysis.graphs.helper_runs import HelperRuns
from tfrewrite.analysis.graphs.moves import Moves
from tfrewrite.analysis.graphs.next_elements import NextElements
from tfrewrite.analysis.graphs.op_making import OpMaking
from tfrewrite.analysis.graphs.op_names import OpNames
from tfrewrite.analysis.graphs.opened_sessions import OpenedSessions
from tfrewrite.analysis.graphs.operands import Operands
from tfrewrite.analysis.graphs.placeholders import Placeholders
from tfrewrite.analysis.graphs.savers import Savers
from tfrewrite.analysis.graphs.seeds import Seeds
from tfrewrite.analysis.graphs.session_ends import SessionEnds
from tfrewrite.analysis.graphs.sessions import Sessions
from tfrewrite.analysis.graphs.step_runs import StepRuns
from tfrewrite.analysis.keras.batch_rows import BatchRows
from tfrewrite.analysis.keras.fit_callbacks import FitCallbacks
from tfrewrite.analysis.keras.fit_steps import FitSteps
from tfrewrite.analysis.keras.kept_losses import KeptLosses
from tfrewrite.analysis.keras.keras_calls import KerasCalls
from tfrewrite.analysis.keras.keras_masks import KerasMasks
from tfrewrite.analysis.keras.keras_models import KerasModels
from tfrewrite.analysis.keras.keras_things import SQUASHING
from tfrewrite.analysis.keras.layer_uses import LayerUses
from tfrewrite.analysis.keras.lost_logits import LostLogits
from tfrewrite.analysis.keras.mixed_parts import MixedParts
from tfrewrite.analysis.keras.mixed_types import MixedTypes
from tfrewrite.analysis.keras.model_traces import ModelTraces
from tfrewrite.analysis.keras.row_order import RowOrder
from tfrewrite.analysis.keras.trained_models import TrainedModels
from tfrewrite.analysis.part import Part
from tfrewrite.analysis.pipelines.changed_sources import ChangedSources
from tfrewrite.analysis.pipelines.element_code import ElementCode
from tfrewrite.analysis.pipelines.first_elements import FirstElements
from tfrewrite.analysis.pipelines.generators import Generators
from tfrewrite.analysis.pipelines.iterators import Iterators
from tfrewrite.analysis.pipelines.parallel_maps import ParallelMaps
from tfrewrite.analysis.pipelines.pipelines import Pipelines
from tfrewrite.analysis.pipelines.read_ahead import ReadAhead
from tfrewrite.analysis.pipelines.running_pipelines import RunningPipelines
from tfrewrite.analysis.program.afterwards import Afterwards
from tfrewrite.analysis.program.beforehand import Beforehand
from tfrewrite.analysis.program.captured import Captured
from tfrewrite.analysis.program.catching import Catching
from tfrewrite.analysis.program.classes import Classes
from tfrewrite.analysis.program.conditions import Conditions
from tfrewrite.analysis.program.containers import Containers
from tfrewrite.analysis.program.data_values import DataValues
from tfrewrite.analysis.program.dynamics import Dynamics
from tfrewrite.analysis.program.flow import Flow
from tfrewrite.analysis.program.handlers import Handlers
from tfrewrite.analysis.program.hoisting import Hoisting
from tfrewrite.analysis.program.late_reads import LateReads
from tfrewrite.analysis.program.left_files import LeftFiles
from tfrewrite.analysis.program.loop_headers import LoopHeaders
from tfrewrite.analysis.program.managers import Managers
from tfrewrite.analysis.program.names import Names
from tfrewrite.analysis.program.new_objects import NewObjects
from tfrewrite.analysis.program.numbers import Numbers
from tfrewrite.analysis.program.outsiders import Outsiders
from tfrewrite.analysis.program.own_calls import OwnCalls
from tfrewrite.analysis.program.ownership import Ownership
from tfrewrite.analysis.program.periods import Periods
from tfrewrite.analysis.program.plain_values import PlainValues
from tfrewrite.analysis.program.reached_once import ReachedOnce
from tfrewrite.analysis.program.reported import Reports
from tfrewrite.analysis.program.scopes import Scopes
from tfrewrite.analysis.program.settings import Settings
from tfrewrite.analysis.program.settled import Settled
from tfrewrite.analysis.program.source import Source
from tfrewrite.analysis.program.turn_values import TurnValues
from tfrewrite.analysis.program.unread import Unread
from tfrewrite.analysis.program.untouched_data import UntouchedData
from tfrewrite.analysis.program.ways import Ways
from tfrewrite.analysis.traces.compiled_functions import CompiledFunctions
from tfrewrite.analysis.traces.float_tensors import FloatTensors
from tfrewrite.analysis.traces.graph_options import graph_option
from tfrewrite.analysis.traces.held_values import HeldValues
from tfrewrite.analysis.traces.number_uses import NumberUses
from tfrewrite.analysis.traces.steady_traces import SteadyTraces
from tfrewrite.analysis.traces.step_traces import StepTraces
from tfrewrite.analysis.traces.trace_effects import TraceEffects
from tfrewrite.analysis.traces.traced_code import TracedCode
from tfrewrite.analysis.traces.tracing import Tracing
from tfrewrite.analysis.traces.unrolled import UnrolledLoops
from tfrewrite.analysis.traces.xla import Xla
from tfrewrite.model import DEFAULT_CONTRACTS, Contract


class Facts:
    """The shared analysis of one file."""

    # The program, as one of Python

    flow = Part(Flow)
    """In which order things happen."""
    managers = Part(Managers)
    """What the managers of `with` statements may do."""
    classes = Part(Classes)
    """The classes of the file and what their attributes hold."""
    containers = Part(Containers)
    """What becomes of lists and dicts."""
    outsiders = Part(Outsiders)
    """Who outside of the file calls its functions."""
    catching = Part(Catching)
    """What may catch an exception and let the program go on."""
    handlers = Part(Handlers)
    """What looks into an exception."""
    dynamics = Part(Dynamics)
    """What makes the rest of the analysis worthless."""
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
    settled = Part(Settled)
    """Which values do not change any more."""
    captured = Part(Captured)
    """What functions take from outside."""
    untouched_data = Part(UntouchedData)
    """Data that nothing changes any more."""
    unread = Part(Unread)
    """Which values get a name that nobody reads."""
    hoisting = Part(Hoisting)
    """The way out of loops."""
    afterwards = Part(Afterwards)
    """What may still be done from a statement on."""
    beforehand = Part(Beforehand)
    """What may have been done before a statement."""
    numbers = Part(Numbers)
    """Which sort of number a value is."""
    settings = Part(Settings)
    """What the command line or flags give."""
    conditions = Part(Conditions)
    """What keeps a loop from evaluating a part of its body."""
    loop_headers = Part(LoopHeaders)
    """What loops go over, beneath a bar."""
    data_values = Part(DataValues)
    """Which values are data."""
    turn_values = Part(TurnValues)
    """What a turn of a loop has of its own."""
    new_objects = Part(NewObjects)
    """Which values are objects made anew."""
    reached_once = Part(ReachedOnce)
    """Which places are reached at most once."""
    ways = Part(Ways)
    """How values come from where they are made to where they are used."""
    periods = Part(Periods)
    """In which turns of a loop something is executed."""
    left_files = Part(LeftFiles)
    """Files that loops leave behind in each turn."""

    # Graphs and sessions

    feeds = Part(Feeds)
    """What runs are fed with."""
    graph = Part(Tracer)
    """Which TensorFlow calls a value is made of."""
    fixed_fetches = Part(FixedFetches)
    """What runs fetch in each turn of a loop."""
    sessions = Part(Sessions)
    """Where the graph is run."""
    opened_sessions = Part(OpenedSessions)
    """Where sessions are opened."""
    session_ends = Part(SessionEnds)
    """Whether sessions are closed in any case."""
    step_runs = Part(StepRuns)
    """The runs that a step makes."""
    helper_runs = Part(HelperRuns)
    """Runs that stand alone in functions, seen from the steps that call these."""
    moves = Part(Moves)
    """What a run of the graph may be moved past."""
    seeds = Part(Seeds)
    """Where the draws of random ops come from."""
    collected_summaries = Part(CollectedSummaries)
    """What `merge_all` collects."""
    building = Part(Building)
    """What adds ops to a graph."""
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
    operands = Part(Operands)
    """Whether what ops are made of stays the same."""
    placeholders = Part(Placeholders)
    """The placeholders that feeds name."""
    default_graphs = Part(DefaultGraphs)
    """Which graph is the default one."""

    # Batches that are fed

    feed_helpers = Part(FeedHelpers)
    """The functions of the file that make dicts to feed."""
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
    batches_ahead = Part(BatchesAhead)
    """Whether batches can be made ahead unseen."""
    batch_code = Part(BatchCode)
    """What the code that makes a batch does."""

    # Pipelines of tf.data

    pipelines = Part(Pipelines)
    """The tf.data pipelines, and who consumes them."""
    read_ahead = Part(ReadAhead)
    """Whether anybody could tell that a pipeline is read ahead."""
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
    iterators = Part(Iterators)
    """What is an iterator over a pipeline."""
    running_pipelines = Part(RunningPipelines)
    """Which pipelines code may run."""

    # Eager mode, and its steps

    endings = Part(Endings)
    """Who may tell how a step ended that failed."""
    eager_runs = Part(EagerRuns)
    """Whether models that are told to run eagerly may run as graphs."""
    list_uses = Part(ListUses)
    """Which uses leave a list or dict of eager code as it is."""
    eager_values = Part(EagerValues)
    """What names and expressions stand for in eager mode."""
    inline_steps = Part(InlineSteps)
    """The steps that loops have written out in their bodies."""
    step_names = Part(StepNames)
    """What steps in loops would be given by names, and give back."""
    list_lengths = Part(ListLengths)
    """Which lists have the same length each time."""
    step_functions = Part(StepFunctions)
    """The functions that make one step of a training loop."""
    forward_steps = Part(ForwardSteps)
    """The functions without a tape that loops call turn by turn."""
    forward_stretches = Part(ForwardStretches)
    """The stretches without a tape of what loops do turn by turn."""
    call_shapes = Part(CallShapes)
    """Whether what a function is given has another shape each time."""
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

    # Traces

    tracing = Part(Tracing)
    """Whether functions may be traced once and replayed."""
    step_traces = Part(StepTraces)
    """Whether these may be traced once and replayed."""
    xla = Part(Xla)
    """What XLA compiles."""
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

    # Keras

    keras_masks = Part(KerasMasks)
    """Whether layers of the file put masks on what they give."""
    lost_logits = Part(LostLogits)
    """Whether crossentropies miss what a trace does not hand on."""
    kept_losses = Part(KeptLosses)
    """Losses that layers leave behind, and who looks for them."""
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
    keras_calls = Part(KerasCalls)
    """The methods of models that are called again and again."""
    batch_rows = Part(BatchRows)
    """How many rows an array has."""
    row_order = Part(RowOrder)
    """Whether models could tell in which order rows come."""

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
