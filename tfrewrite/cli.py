"""The command line. What takes time to import is imported by the command that needs it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tfrewrite import options as opt
from tfrewrite.reports.formats import Format
from tfrewrite.version import __version__

app = typer.Typer(
    name="tfrewrite",
    help="Makes legacy TensorFlow training scripts fast without changing what they compute.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:  # noqa: FBT001  Typer calls it so
    if wanted:
        typer.echo(f"tfrewrite {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    del version


@app.command()
def check(
    paths: opt.Paths,
    *,
    select: opt.Select = [],  # noqa: B006  Typer copies it
    ignore: opt.Ignore = [],  # noqa: B006
    allow: opt.Allow = [],  # noqa: B006
    target_tf: opt.TargetTf = "",
    format_: opt.FormatOption = Format.TEXT,
    output: opt.Outputs = [],  # noqa: B006
    jobs: opt.Jobs = None,
    exclude: opt.Exclude = [],  # noqa: B006
    config: opt.Config = None,
    shard: opt.Shard = "",
    since: opt.Since = "",
    stdin_filename: opt.StdinFilename = "",
    watch: opt.Watch = False,
    no_cache: opt.NoCache = False,
    statistics: opt.Statistics = False,
    quiet: opt.Quiet = False,
    verbose: opt.Verbose = False,
) -> None:
    """List what would be rewritten, and what is refused and why. Writes nothing."""
    options = opt.Options(
        paths, select, ignore, allow, target_tf, exclude, config, format_, output, jobs,
        no_cache, statistics, quiet, verbose, shard, since, stdin_filename,
    )  # fmt: skip
    if watch:
        from tfrewrite.watching import Watch  # noqa: PLC0415

        raise typer.Exit(Watch(options).run())
    from tfrewrite.session import Session  # noqa: PLC0415

    raise typer.Exit(Session(options).check())


@app.command()
def apply(
    paths: opt.Paths,
    *,
    select: opt.Select = [],  # noqa: B006  Typer copies it
    ignore: opt.Ignore = [],  # noqa: B006
    allow: opt.Allow = [],  # noqa: B006
    target_tf: opt.TargetTf = "",
    format_: opt.FormatOption = Format.TEXT,
    output: opt.Outputs = [],  # noqa: B006
    jobs: opt.Jobs = None,
    exclude: opt.Exclude = [],  # noqa: B006
    config: opt.Config = None,
    shard: opt.Shard = "",
    since: opt.Since = "",
    stdin_filename: opt.StdinFilename = "",
    diff: Annotated[
        bool, typer.Option("--diff", help="Print a unified diff, and write nothing.")
    ] = False,
    interactive: Annotated[
        bool, typer.Option("--interactive", "-i", help="Ask at each rewrite.")
    ] = False,
    no_cache: opt.NoCache = False,
    statistics: opt.Statistics = False,
    quiet: opt.Quiet = False,
    verbose: opt.Verbose = False,
    verify: opt.KeepWhatPays = False,
    min_speedup: opt.MinSpeedup = None,
    python: opt.Python = None,
    args: opt.Arguments = "",
    steps: opt.Steps = "",
    seeds: opt.Seeds = None,
    runs: opt.Runs = None,
    timeout: opt.Timeout = None,
    memory_limit: opt.MemoryLimit = None,
    device: opt.DeviceOption = None,
    contract: opt.ContractOption = "",
    synthetic_data: opt.SyntheticData = False,
    legacy_keras: opt.LegacyKeras = False,
    quick: opt.NumbersOnly = False,
) -> None:
    """Rewrite files in place."""
    from tfrewrite.applying import Way, applied  # noqa: PLC0415

    options = opt.Options(
        paths, select, ignore, allow, target_tf, exclude, config, jobs=jobs, no_cache=no_cache,
        statistics=statistics, quiet=quiet, verbose=verbose, shard=shard, since=since,
        stdin_filename=stdin_filename,
    )  # fmt: skip
    how_run = {
        "--python": python,
        "--args": args,
        "--steps": steps,
        "--seeds": seeds,
        "--runs": runs,
        "--timeout": timeout,
        "--memory-limit": memory_limit,
        "--device": device.value if device else "",
        "--contract": contract,
        "--synthetic-data": synthetic_data,
        "--legacy-keras": legacy_keras,
        "--quick": quick,
    }
    way = Way(verify, diff, interactive, min_speedup, format_, output, how_run)
    raise typer.Exit(applied(options, way))


@app.command()
def verify(
    paths: opt.VerifyPaths,
    *,
    python: opt.Python = None,
    args: opt.Arguments = "",
    steps: opt.Steps = "",
    seeds: opt.Seeds = None,
    runs: opt.Runs = None,
    timeout: opt.Timeout = None,
    memory_limit: opt.MemoryLimit = None,
    device: opt.DeviceOption = None,
    contract: opt.ContractOption = "",
    synthetic_data: opt.SyntheticData = False,
    legacy_keras: opt.LegacyKeras = False,
    quick: opt.NumbersOnly = False,
    select: opt.Select = [],  # noqa: B006  Typer copies it
    ignore: opt.Ignore = [],  # noqa: B006
    allow: opt.Allow = [],  # noqa: B006
    target_tf: opt.TargetTf = "",
    format_: opt.VerifyFormatOption = opt.VerifyFormat.TEXT,
    output: opt.Outputs = [],  # noqa: B006
    jobs: opt.VerifyJobs = 1,
    exclude: opt.Exclude = [],  # noqa: B006
    config: opt.Config = None,
    quiet: opt.VerifyQuiet = False,
    verbose: opt.VerifyVerbose = False,
) -> None:
    """Run the original and the rewritten script, and compare numbers and speed."""
    from tfrewrite.verifying import VerifyOptions, VerifySession  # noqa: PLC0415

    rules = opt.Options(
        [str(path) for path in paths], select, ignore, allow, target_tf, exclude, config
    )
    options = VerifyOptions(
        paths, python, args, steps, seeds, runs, timeout, memory_limit,
        device.value if device else "", contract, synthetic_data, legacy_keras, quick,
        format_.value, output, jobs, quiet, verbose, rules,
    )  # fmt: skip
    raise typer.Exit(VerifySession(options).run())


@app.command()
def report(
    files: opt.Reports,
    *,
    format_: opt.ReportFormatOption = opt.ReportFormat.MARKDOWN,
    output: opt.Outputs = [],  # noqa: B006
) -> None:
    """Put the JSON reports of several runs together: shards or days, findings or verifications."""
    from tfrewrite.merging import report_on  # noqa: PLC0415

    raise typer.Exit(report_on(files, format_.value, output))


@app.command()
def rules(format_: opt.ListFormatOption = opt.ListFormat.TEXT) -> None:
    """List the rules."""
    from tfrewrite import catalogue  # noqa: PLC0415

    typer.echo(catalogue.as_json() if format_ is opt.ListFormat.JSON else catalogue.as_text())


@app.command()
def explain(
    rule: Annotated[
        str,
        typer.Argument(metavar="RULE|REASON", help="A rule's code or name; a refusal's reason."),
    ],
) -> None:
    """Show one rule in full, or what a reason for refusing means and what can be done."""
    from tfrewrite import catalogue  # noqa: PLC0415
    from tfrewrite.registry import UnknownRule  # noqa: PLC0415

    try:
        typer.echo(catalogue.explained(rule))
    except UnknownRule as error:
        typer.echo(f"tfrewrite: {error}", err=True)
        raise typer.Exit(2) from error


@app.command()
def demo(
    directory: Annotated[
        Path | None,
        typer.Option("--directory", metavar="DIR", help="Where both versions and the report go."),
    ] = None,
    python: opt.Python = None,
) -> None:
    """Do the main job on a shipped legacy script: check, diff, apply to a copy, verify."""
    from tfrewrite.demo import run  # noqa: PLC0415

    raise typer.Exit(run(directory, python))
