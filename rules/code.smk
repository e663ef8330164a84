"""The parameter `code` of every rule that runs a script: the fingerprint of what the script can reach by imports."""

from weebill.workflow.rule_code import set_code

set_code(workflow.rules, REPOSITORY)
