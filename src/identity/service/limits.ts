/** Bounds of the hosted pages; see `identityLimits` of `config.ts`, where each is explained. */
export interface SignInLimits {
  stateMs: number;
  statesKept: number;
  statesInstanceShare: number;
  statesClientShare: number;
  linksKept: number;
  linksInstanceShare: number;
  resetLinksMax: number;
  codesKept: number;
  mailsKept: number;
  deviceMs: number;
  deliveryCodeMs: number;
  verifyLinkMs: number;
  resetLinkMs: number;
  providerHeadMs: number;
  providerTotalMs: number;
  providerBodyBytesMax: number;
  oidcCacheMs: number;
  oidcCacheMax: number;
  oidcRefetchMs: number;
  clockLeewayMs: number;
  evenMs: number;
  passwordBytesMax: number;
  passwordWorkers: number;
  passwordsWaitingMax: number;
  passwordMemoryKib: number;
  passwordPasses: number;
  mailPausesMs: readonly number[];
  mailTimeoutMs: number;
  mailsInFlightMax: number;
}
