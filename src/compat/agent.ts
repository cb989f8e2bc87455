/**
 * Whether the contract's own client sent this: it calls itself `<prefix>-cli/<version>`. It proves nothing, and grants
 * nothing.
 */
export function isContractClient(agent: string | null | undefined, prefix: string): boolean {
  return agent?.startsWith(`${prefix}-cli/`) ?? false;
}
