#!/bin/sh
# status.sh JOB: what has become of a job of Slurm, in the words that Snakemake's cluster-generic executor knows.
# A job that is neither remembered nor accounted for has failed; while nothing answers, it runs on.
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
