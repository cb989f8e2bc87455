# From what `bun test` printed: each failed test, under the name of its file, with the last lines printed before its result.
# bun names the failures of a long run a second time at its end: those are left out.
# Usage: awk -v lines=40 -f failures.awk LOG
/^test\/.*\.test\.ts:$/ { file = $0; kept = 0; first = 0; next }
/^\((pass|skip|todo)\) / { kept = 0; first = 0; next }
/^\(fail\) / && !told[$0]++ {
  print file
  if (kept - first >= lines) first = kept - lines
  for (i = first; i < kept; i++) print "  " line[i]
  print $0
  print ""
  kept = 0
  first = 0
  next
}
/^\(fail\) / { kept = 0; first = 0; next }
{ line[kept++] = $0 }
