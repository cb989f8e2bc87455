/**
 * Ends the start: the executable compiles code later than usual until then (`jitPolicy` in build.ts). Under load, later is too
 * late: a server would need 20 % more CPU for its first thousands of requests.
 */
export function normalJit(): void {
  Bun.unsafe.setJITPolicy(1);
}
