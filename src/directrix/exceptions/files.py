"""Errors about files: summaries, models, binners and tables that cannot be read."""

from __future__ import annotations

from pathlib import PurePath

from directrix.exceptions.fields import Fields


class NotUtf8Error(Fields, ValueError):
    """A CSV file is not encoded as UTF-8."""

    path: str
    #: First line that is not UTF-8, counted from one.
    line: int
    #: First byte in it that is not UTF-8.
    byte: int
    #: Encoding that the file may have.
    encoding: str

    def __str__(self) -> str:
        path, encoding = PurePath(self.path), self.encoding
        copy = path.with_stem(f"{path.stem}-utf8")
        return (
            f"{self.path} is not UTF-8: line {self.line} has the byte 0x{self.byte:02x}. Save it "
            f"as UTF-8; if it is {encoding}, iconv -f {encoding} -t UTF-8 {self.path} > {copy} "
            "does so"
        )


class FileContentError(Fields, ValueError):
    """Base class of errors about what a file holds."""

    _noun = "file"

    reason: str
    #: The file; None while its content is checked apart from it.
    path: str | None = None

    def __str__(self) -> str:
        if self.path is None:
            return self.reason
        return f"{PurePath(self.path).name} cannot be read as a {self._noun}: {self.reason}"


class MomentsFileError(FileContentError):
    """A file is not a summary that this version can read, or it is damaged."""

    _noun = "summary"


class ModelFileError(FileContentError):
    """A file is not a model that this version can read, or it is damaged."""

    _noun = "model"


class BinnerFileError(FileContentError):
    """A file or text is not a binner that this version can read, or it is damaged."""

    _noun = "binner"
