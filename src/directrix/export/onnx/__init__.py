"""A fitted classifier as an ONNX model."""

from directrix.export.onnx.model import to_onnx

__all__ = ["to_onnx"]
