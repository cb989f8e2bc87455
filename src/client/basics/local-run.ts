/** A program on the operator's own terminal. */
interface LocalProgram {
  argv: readonly string[];
  /** Beside the client's own environment. */
  env: Readonly<Record<string, string>>;
}

/**
 * Runs it to its end, with the client's own streams; answers with its exit code: 128 and
 * more where a signal ended it, 127 where it is not there.
 */
export type RunLocal = (program: LocalProgram) => Promise<number>;

/** What the shell says of programs that are not there. */
export const notFoundCode = 127;

/** With the client's environment as `variables`. */
export function createRunLocal(variables: Readonly<Record<string, string | undefined>>): RunLocal {
  return async ({ argv, env }) => {
    const restore = leaveInterruptsToChild();
    try {
      const streams = { stdin: "inherit", stdout: "inherit", stderr: "inherit" } as const;
      const child = Bun.spawn([...argv], { ...streams, env: { ...variables, ...env } });
      return await child.exited;
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return notFoundCode;
      throw error;
    } finally {
      restore();
    }
  };
}

/** Ctrl-C reaches the child as well, which has its own mind about it: `psql` only ends a query. */
function leaveInterruptsToChild(): () => void {
  const ours = process.listeners("SIGINT");
  const ignore = () => undefined;
  process.removeAllListeners("SIGINT").on("SIGINT", ignore);
  return () => {
    process.off("SIGINT", ignore);
    for (const listener of ours) process.on("SIGINT", listener);
  };
}
