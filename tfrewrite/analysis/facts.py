"""Everything that the rules may ask about one file, each part made when it is first asked for."""

from __future__ import annotations

import ast
from functools import cached_property

from tfrewrite.analysis.afterwards import Afterwards
from tfrewrite.analysis.assigns import Assigns
from tfrewrite.analysis.batch_code import BatchCode
from tfrewrite.analysis.batches_ahead import BatchesAhead
from tfrewrite.analysis.building import Building
from tfrewrite.analysis.built_values import BuiltValues
from tfrewrite.analysis.captured import Captured
from tfrewrite.analysis.catching import Catching
from tfrewrite.analysis.changed_sources import ChangedSources
from tfrewrite.analysis.classes import Classes
from tfrewrite.analysis.conditions import Conditions
from tfrewrite.analysis.containers import Containers
from tfrewrite.analysis.data_values import DataValues
from tfrewrite.analysis.dynamics import Dynamics
from tfrewrite.analysis.element_code import ElementCode
from tfrewrite.analysis.fed_batches import FedBatches
from tfrewrite.analysis.feeds import Feeds
from tfrewrite.analysis.fixed_fetches import FixedFetches
from tfrewrite.analysis.flow import Flow
from tfrewrite.analysis.generators import Generators
from tfrewrite.analysis.graph import Tracer
from tfrewrite.analysis.graph_readers import GraphReaders
from tfrewrite.analysis.handlers import Handlers
from tfrewrite.analysis.hoisting import Hoisting
from tfrewrite.analysis.iterators import Iterators
from tfrewrite.analysis.managers import Managers
from tfrewrite.analysis.moves import Moves
from tfrewrite.analysis.names import Names
from tfrewrite.analysis.next_elements import NextElements
from tfrewrite.analysis.numbers import Numbers
from tfrewrite.analysis.op_making import OpMaking
from tfrewrite.analysis.op_names import OpNames
from tfrewrite.analysis.opened_sessions import OpenedSessions
from tfrewrite.analysis.operands import Operands
from tfrewrite.analysis.own_calls import OwnCalls
from tfrewrite.analysis.ownership import Ownership
from tfrewrite.analysis.pipelines import Pipelines
from tfrewrite.analysis.placeholders import Placeholders
from tfrewrite.analysis.plain_values import PlainValues
from tfrewrite.analysis.read_ahead import ReadAhead
from tfrewrite.analysis.reported import Reports
from tfrewrite.analysis.savers import Savers
from tfrewrite.analysis.scopes import Scopes
from tfrewrite.analysis.seeds import Seeds
from tfrewrite.analysis.sessions import Sessions
from tfrewrite.analysis.settings import Settings
from tfrewrite.analysis.settled import Settled
from tfrewrite.analysis.source import Source
from tfrewrite.analysis.unread import Unread
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
        return Flow(self.source, self.scopes, self.managers)

    @cached_property
    def managers(self) -> Managers:
        """What the managers of `with` statements may do."""
        return Managers(self.names)

    @cached_property
    def classes(self) -> Classes:
        """The classes of the file and what their attributes hold."""
        return Classes(self.source, self.scopes, self.names, self.flow)

    @cached_property
    def containers(self) -> Containers:
        """What becomes of lists and dicts."""
        return Containers(self.source, self.scopes, self.names, self.classes)

    @cached_property
    def feeds(self) -> Feeds:
        """What runs are fed with."""
        return Feeds(self.source, self.scopes, self.graph, self.containers)

    @cached_property
    def graph(self) -> Tracer:
        """Which TensorFlow calls a value is made of."""
        return Tracer(
            self.source,
            self.scopes,
            self.names,
            self.flow,
            self.classes,
            self.containers,
            self.managers,
        )

    @cached_property
    def catching(self) -> Catching:
        """What may catch an exception and let the program go on."""
        return Catching(self.source, self.names, self.flow, self.classes, self.managers)

    @cached_property
    def handlers(self) -> Handlers:
        """What looks into an exception."""
        return Handlers(
            self.source, self.scopes, self.names, self.flow, self.classes, self.managers
        )

    @cached_property
    def fixed_fetches(self) -> FixedFetches:
        """What runs fetch in each turn of a loop."""
        return FixedFetches(
            self.source,
            self.scopes,
            self.classes,
            self.containers,
            self.graph,
            self.own_calls,
            self.hoisting,
        )

    @cached_property
    def dynamics(self) -> Dynamics:
        """What makes the rest of the analysis worthless."""
        return Dynamics(self.source, self.names, self.classes, self.graph)

    @cached_property
    def sessions(self) -> Sessions:
        """Where the graph is run."""
        return Sessions(self.source, self.scopes, self.names, self.graph, self.own_calls)

    @cached_property
    def opened_sessions(self) -> OpenedSessions:
        """Where sessions are opened."""
        return OpenedSessions(
            self.source,
            self.scopes,
            self.names,
            self.flow,
            self.sessions,
            self.own_calls,
            self.afterwards,
        )

    @cached_property
    def moves(self) -> Moves:
        """What a run of the graph may be moved past."""
        return Moves(
            self.source,
            self.scopes,
            self.names,
            self.flow,
            self.classes,
            self.graph,
            self.sessions,
            self.plain_values,
            self.ownership,
        )

    @cached_property
    def reports(self) -> Reports:
        """Whether a value is only shown, or acts."""
        return Reports(
            self.source, self.scopes, self.names, self.flow, self.classes, self.ownership
        )

    @cached_property
    def plain_values(self) -> PlainValues:
        """Which values are ordinary ones."""
        return PlainValues(self.scopes, self.names, self.classes, self.sessions)

    @cached_property
    def ownership(self) -> Ownership:
        """Which objects belong to one variable alone."""
        return Ownership(self.source, self.scopes, self.names, self.plain_values)

    @cached_property
    def own_calls(self) -> OwnCalls:
        """The functions of the file and their callers."""
        return OwnCalls(self.source, self.scopes, self.names, self.classes)

    @cached_property
    def pipelines(self) -> Pipelines:
        """The tf.data pipelines, and who consumes them."""
        return Pipelines(self.source, self.names, self.flow, self.classes, self.own_calls)

    @cached_property
    def read_ahead(self) -> ReadAhead:
        """Whether anybody could tell that a pipeline is read ahead."""
        code = ElementCode(
            self.source, self.scopes, self.names, self.classes, self.graph, self.own_calls
        )
        generators = Generators(
            self.source,
            self.scopes,
            self.names,
            self.flow,
            self.classes,
            self.own_calls,
            code,
            self.captured,
        )
        sources = ChangedSources(
            self.source, self.scopes, self.names, self.flow, self.own_calls, code, self.ownership
        )
        return ReadAhead(
            self.source,
            self.scopes,
            self.names,
            self.flow,
            self.pipelines,
            code,
            generators,
            self.own_calls,
            sources,
            Settled(
                self.source,
                self.scopes,
                self.names,
                self.classes,
                self.own_calls,
                self.captured,
            ),
            Iterators(self.source, self.names, self.classes, self.own_calls),
            self.pipelines.uses,
        )

    @cached_property
    def captured(self) -> Captured:
        """What functions take from outside."""
        return Captured(
            self.source, self.scopes, self.names, self.flow, self.classes, self.own_calls
        )

    @cached_property
    def unread(self) -> Unread:
        """Which values get a name that nobody reads."""
        return Unread(self.source, self.scopes, self.names, self.flow)

    @cached_property
    def seeds(self) -> Seeds:
        """Where the draws of random ops come from."""
        return Seeds(self.source, self.names, self.own_calls, self.target_tf)

    @cached_property
    def hoisting(self) -> Hoisting:
        """The way out of loops."""
        return Hoisting(
            self.source, self.scopes, self.flow, self.classes, self.managers, self.own_calls
        )

    @cached_property
    def afterwards(self) -> Afterwards:
        """What may still be done from a statement on."""
        return Afterwards(self.source, self.scopes, self.names, self.classes, self.own_calls)

    @cached_property
    def building(self) -> Building:
        """What adds ops to a graph."""
        return Building(
            self.scopes,
            self.names,
            self.classes,
            self.own_calls,
            self.graph,
            self.sessions,
            self.moves,
            self.plain_values,
            self.seeds,
        )

    @cached_property
    def numbers(self) -> Numbers:
        """Which sort of number a value is."""
        settings = Settings(self.source, self.scopes, self.names, self.classes, self.own_calls)
        return Numbers(
            self.source,
            self.scopes,
            self.names,
            self.classes,
            self.own_calls,
            self.sessions,
            self.graph,
            settings,
        )

    @cached_property
    def assigns(self) -> Assigns:
        """What is assigned to variables of a graph."""
        return Assigns(
            self.source,
            self.scopes,
            self.names,
            self.flow,
            self.graph,
            self.sessions,
            self.own_calls,
            self.classes,
            self.hoisting,
        )

    @cached_property
    def graph_readers(self) -> GraphReaders:
        """What looks at the ops of a graph, or closes it."""
        return GraphReaders(self.source, self.names, self.hoisting)

    @cached_property
    def next_elements(self) -> NextElements:
        """What is taken from iterators of a graph."""
        return NextElements(
            self.source,
            self.scopes,
            self.names,
            self.classes,
            self.graph,
            self.own_calls,
            self.built_values,
        )

    @cached_property
    def built_values(self) -> BuiltValues:
        """What is done with what the graph is built of."""
        return BuiltValues(self.source, self.scopes, self.flow, self.sessions)

    @cached_property
    def op_making(self) -> OpMaking:
        """Whether ops that are made in each turn of a loop can be made once."""
        return OpMaking(
            self.source,
            self.names,
            self.classes,
            self.own_calls,
            self.graph,
            self.sessions,
            self.afterwards,
            self.building,
            self.operands,
        )

    @cached_property
    def savers(self) -> Savers:
        """The savers that loops make."""
        return Savers(self.source, self.names, self.hoisting, self.built_values)

    @cached_property
    def op_names(self) -> OpNames:
        """Where the names of ops are shown."""
        return OpNames(self.source, self.names, self.graph, self.op_making, self.afterwards)

    @cached_property
    def conditions(self) -> Conditions:
        """What keeps a loop from evaluating a part of its body."""
        return Conditions(self.source, self.scopes, self.names, self.flow)

    @cached_property
    def operands(self) -> Operands:
        """Whether what ops are made of stays the same."""
        return Operands(
            self.source,
            self.scopes,
            self.names,
            self.classes,
            self.containers,
            self.own_calls,
            self.graph,
            self.hoisting,
            self.next_elements,
        )

    @cached_property
    def data_values(self) -> DataValues:
        """Which values are data."""
        return DataValues(
            self.source, self.scopes, self.names, self.classes, self.own_calls, self.sessions
        )

    @cached_property
    def fed_batches(self) -> FedBatches:
        """What loops make and feed in each turn."""
        return FedBatches(
            self.source, self.scopes, self.names, self.flow, self.own_calls, self.sessions
        )

    @cached_property
    def batches_ahead(self) -> BatchesAhead:
        """Whether batches can be made ahead unseen."""
        code = BatchCode(
            self.source,
            self.scopes,
            self.names,
            self.classes,
            self.own_calls,
            self.ownership,
            self.data_values,
        )
        return BatchesAhead(
            self.source,
            self.scopes,
            self.names,
            self.flow,
            self.classes,
            self.managers,
            self.own_calls,
            self.graph,
            self.sessions,
            self.moves,
            self.catching,
            code,
            self.data_values,
        )

    @cached_property
    def placeholders(self) -> Placeholders:
        """The placeholders that feeds name."""
        return Placeholders(
            self.source,
            self.scopes,
            self.names,
            self.flow,
            self.classes,
            self.graph,
            self.hoisting,
        )
