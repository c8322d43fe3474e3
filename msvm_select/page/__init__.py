"""A finished sweep -> one self-contained page of HTML."""

from msvm_select.page.chosen import judged
from msvm_select.page.command import command_line
from msvm_select.page.digest import file_digest
from msvm_select.page.page import render
from msvm_select.page.report import Report

__all__ = ["Report", "command_line", "file_digest", "judged", "render"]
