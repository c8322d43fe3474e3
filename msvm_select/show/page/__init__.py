"""A finished sweep -> one self-contained page of HTML."""

from msvm_select.show.page.chosen import judged
from msvm_select.show.page.command import command_line
from msvm_select.show.page.digest import file_digest
from msvm_select.show.page.page import render
from msvm_select.show.page.report import Report

__all__ = ["Report", "command_line", "file_digest", "judged", "render"]
