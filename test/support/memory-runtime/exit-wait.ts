import { Failure } from "../../../src/base/wire/failure.ts";
import type { InspectedPod } from "../../../src/orchestration/engine/pod.ts";
import type { Engine } from "../../../src/orchestration/engine/engine.ts";
import type { Bells } from "./bells.ts";
import type { ContainerTable } from "./container-table.ts";
import type { Faults } from "./faults.ts";

export interface ExitWaitParts {
  table: ContainerTable;
  bells: Bells;
  faults: Faults;
}

type Exit = Awaited<ReturnType<Engine["wait"]>>;

/** See `Engine.wait`. While the engine is down it waits for that too. */
export async function waitForExit(
  { table, bells, faults }: ExitWaitParts,
  nameOrId: string,
  signal: AbortSignal,
): Promise<Exit> {
  const look = (key: string) => {
    const entry = table.get(key);
    if (entry === undefined) throw new Failure("not_found", `container "${nameOrId}" does not exist`);
    return entry.detail;
  };
  while (faults.isDown() && !signal.aborted) await bells.next("", signal);
  signal.throwIfAborted();
  const { id } = await faults.does("wait", nameOrId, () => look(nameOrId));
  for (;;) {
    signal.throwIfAborted();
    const exit = faults.isDown() ? undefined : exitOf(look(id));
    if (exit !== undefined) return exit;
    await bells.next(id, signal);
  }
}

function exitOf({ name, state, exitCode, oomKilled, error, finishedAt }: InspectedPod): Exit | undefined {
  if (state === "created") {
    throw new Failure("conflict", `cannot wait for container "${name}": it was never started; start it first`);
  }
  return state === "exited" ? { exitCode: exitCode ?? 0, oomKilled, error, finishedAt } : undefined;
}
