#!/bin/sh
# status.sh JOB: print the state of a Slurm job in the words of Snakemake's cluster-generic executor.
# A job unknown to both scontrol and sacct has failed; if Slurm does not answer, the job counts as running.
if answer=$(scontrol --oneliner show job "$1" 2>&1); then
  state=$(printf '%s\n' "$answer" | sed -n 's/.* JobState=\([A-Z_]*\).*/\1/p')
elif [ "${answer#*Invalid job id}" != "$answer" ]; then
  state=$(sacct --allocations --noheader --parsable2 --format=State --jobs="$1" 2>/dev/null | head -n 1)
  state=${state:-FAILED}
fi
case $state in
  COMPLETED) echo success ;;
  BOOT_FAIL | CANCELLED* | DEADLINE | FAILED | NODE_FAIL | OUT_OF_MEMORY | PREEMPTED | REVOKED | TIMEOUT) echo failed ;;
  *) echo running ;;
esac
