import { spyOn } from "bun:test";
import { direct } from "../../src/client/basics/output.ts";

/** What a command of the machine itself answers, and what it writes to stdout and stderr, which does not come out. */
export async function said<T>(work: () => Promise<T>): Promise<{ result: T; out: string; error: string }> {
  const written: Record<1 | 2, string> = { 1: "", 2: "" };
  const write = spyOn(direct, "write").mockImplementation((fd, bytes) => {
    written[fd] += Buffer.from(bytes).toString();
    return undefined;
  });
  try {
    const result = await work();
    return { result, out: written[1], error: written[2] };
  } finally {
    write.mockRestore();
  }
}
