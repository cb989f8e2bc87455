/** What berth itself adds to the name of that client when it works under it. */
export const ownAgent = "berth";

/** Whether berth itself asks under the name of that client. It hangs up on nothing. */
export function isBerthItself(agent: string | null): boolean {
  return agent?.endsWith(` ${ownAgent}`) ?? false;
}

/**
 * Whether the contract's own client (docs/other-clients.md) sent this: it calls itself `<prefix>-cli/<version>`. It proves nothing, and grants
 * nothing.
 */
export function isContractClient(agent: string | null | undefined, prefix: string): boolean {
  return agent?.startsWith(`${prefix}-cli/`) ?? false;
}
