/** Signals as Linux numbers them on x86-64 and arm64: those that end a process. */
const signals: Record<number, string> = {
  1: "SIGHUP",
  2: "SIGINT",
  3: "SIGQUIT",
  4: "SIGILL",
  5: "SIGTRAP",
  6: "SIGABRT",
  7: "SIGBUS",
  8: "SIGFPE",
  9: "SIGKILL",
  10: "SIGUSR1",
  11: "SIGSEGV",
  12: "SIGUSR2",
  13: "SIGPIPE",
  14: "SIGALRM",
  15: "SIGTERM",
  24: "SIGXCPU",
  25: "SIGXFSZ",
  31: "SIGSYS",
};

/** The signal behind an exit code above 128, as shells and Docker count: 137 is SIGKILL. */
export function signalOf(exitCode: number | undefined): string | undefined {
  return exitCode === undefined ? undefined : signals[exitCode - 128];
}

/** What an exit code says by convention; undefined where only the program knows. */
export function exitMeaning(exitCode: number): string | undefined {
  if (exitCode === 126) return "the command cannot be executed";
  if (exitCode === 127) return "the command was not found";
  return undefined;
}

/** How the last command of a release failed, which fails nothing else; undefined where it did not. -1: no code at all. */
export function postFailure(exitCode: number | undefined): string | undefined {
  if (exitCode === undefined || exitCode === 0) return undefined;
  return exitCode < 0 ? "post_command came to no end of its own" : `post_command failed (exit ${exitCode})`;
}
