"""What the fields of a type mean: the sentence in the annotation of each, `Annotated[str, "Its id."]`."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from msgspec import Struct


@cache
def field_meanings(model: type[Struct]) -> dict[str, str]:
    """Return the sentences by the names of the fields; those of a base class come first."""
    result = {}
    for name, kind in get_type_hints(model, include_extras=True).items():
        if said := [each for each in getattr(kind, "__metadata__", ()) if isinstance(each, str)]:
            result[name] = said[-1]
    return result


def struct_in(kind: Any) -> type[Struct] | None:
    """Return the struct that a field's type is; None for any other type."""
    plain = get_args(kind)[0] if get_origin(kind) is Annotated else kind
    return plain if isinstance(plain, type) and issubclass(plain, Struct) else None
