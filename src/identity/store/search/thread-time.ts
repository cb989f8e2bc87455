/** A method of Node's process object, which exists in Bun, but not in the types that it comes with. */
type TellsThreadTime = typeof process & { threadCpuUsage(): { user: number; system: number } };

/** Time of the processor that this thread has used so far, in ms. */
export function threadMs(): number {
  const { user, system } = (process as TellsThreadTime).threadCpuUsage();
  return (user + system) / 1_000;
}
