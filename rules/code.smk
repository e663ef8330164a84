"""Parameter `code` of every rule that runs a script: the fingerprint of all code that the script can import."""

from weebill.workflow.code_version import set_code

set_code(workflow.rules, REPOSITORY)
