/** What the engine and the programs below it put before the cause, outermost first. */
const wrapping =
  /^(?:failed to create task for container|failed to create shim task|oci runtime (?:create|start|exec)? ?(?:failed|error)|(?:runc|crun)(?: (?:create|run|start|exec) failed)?|exec failed|unable to start container process|starting container process caused|error during container init|(?:container|process)_linux\.go:\d+): /i;

/**
 * The useful end of what the engine says about a process that it cannot start: `"nosuch": executable file not found in
 * $PATH` for seven sentences that each repeat that something failed. Other words stay as they are.
 */
export function startWords(words: string): string {
  let rest = words;
  while (wrapping.test(rest)) rest = rest.replace(wrapping, "");
  if (rest === words) return words;
  return rest.replace(/^exec: (?=")/, "").replace(/: unknown(?=$|[.:;])/, "");
}
