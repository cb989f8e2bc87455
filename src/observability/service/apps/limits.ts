/** Bounds of the rooms that show apps; see `appsLimits` of `config/`, where each is explained. */
export interface AppsLimits {
  gatherMs: number;
  sampleMs: number;
  edgeMs: number;
  staleMs: number;
  sparkStepMs: number;
  sparkPoints: number;
  problemsShown: number;
  deploysShown: number;
  deploysMax: number;
  operationsKept: number;
  operationMs: number;
  stream: {
    ringEvents: number;
    ringBytes: number;
    waitingBytesMax: number;
    pingMs: number;
    eventsLookMs: number;
    eventsQuietLookMs: number;
    eventsPerLook: number;
  };
}
