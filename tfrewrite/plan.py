"""Which policy holds for which file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfrewrite.config import ConfigError, Settings, overridden
from tfrewrite.discovery import Filter
from tfrewrite.model import DEFAULT_CONTRACTS
from tfrewrite.policy import Policy
from tfrewrite.registry import UnknownRule, all_rules, selected

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfrewrite.rule import Rule


class Plan:
    """The policies of a run; each combination of overrides is made once.

    All of them are made at the start where a setting can be wrong, so that no run fails half-way.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        write: bool = False,
        rules: Sequence[type[Rule]] | None = None,
    ) -> None:
        self._settings = settings
        self._write = write
        self._rules = all_rules() if rules is None else tuple(rules)
        self._filters = [
            Filter(settings.root, exclude=(override.pattern,)) for override in settings.overrides
        ]
        self._policies: dict[tuple[int, ...], Policy] = {}
        self.base = self._policy(())
        for number in range(len(self._filters)):
            self._policy((number,))

    def policy(self, path: str) -> Policy:
        if not self._filters:
            return self.base
        # A pattern names a file as an exclusion would.
        holding = [at for at, one in enumerate(self._filters) if one.excludes(path)]
        return self._policy(tuple(holding))

    def _policy(self, holding: tuple[int, ...]) -> Policy:
        if holding not in self._policies:
            self._policies[holding] = self._made(holding)
        return self._policies[holding]

    def _made(self, holding: tuple[int, ...]) -> Policy:
        overrides = tuple(self._settings.overrides[number] for number in holding)
        settings = overridden(self._settings, overrides)
        try:
            rules = selected(settings.select, settings.ignore, self._rules)
        except UnknownRule as error:
            raise ConfigError(str(error)) from error
        return Policy(
            rules,
            DEFAULT_CONTRACTS | settings.allow,
            settings.target_tf,
            tuple((rule.code, rule.name) for rule in self._rules),
            self._write,
        )
