"""The filter in pyproject.toml does what it says: a warning of the package is an error, one of others is not."""

from __future__ import annotations

import warnings

import pytest


def warn_in(module: str) -> None:
    """Warns as code of that module does."""
    exec("import warnings; warnings.warn('old', DeprecationWarning)", {"__name__": module})


@pytest.mark.parametrize("module", ["chatbot", "chatbot.text.normalize", "chatbot.cli.chat"])
def test_a_warning_of_the_package_is_an_error(module: str) -> None:
    with pytest.raises(DeprecationWarning):
        warn_in(module)


def test_a_warning_of_others_is_none() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warn_in("somebody.chatbot")
    assert len(caught) == 1
