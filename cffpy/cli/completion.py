# SPDX-License-Identifier: MIT
"""``cffpy completion``: print the script that makes a shell complete cffpy's command line."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

_EPILOG = """\b
Examples:
  cffpy completion bash >> ~/.bashrc
  cffpy completion zsh >> ~/.zshrc
  cffpy completion fish > ~/.config/fish/completions/cffpy.fish
"""


@click.command(epilog=_EPILOG)
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@click.help_option("-h", "--help")
def completion(shell: str) -> None:
    """Print a completion script for SHELL: bash (4.4 or newer), zsh or fish."""
    from cffpy.cli.main import cli

    script = get_completion_class(shell)
    assert script is not None, shell
    click.echo(script(cli, {}, "cffpy", "_CFFPY_COMPLETE").source(), nl=False)
