import type { BusLimits } from "../bus/bus.ts";

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
  deployLooksMax: number;
  operationsKept: number;
  operationMs: number;
  stream: BusLimits & {
    eventsLookMs: number;
    eventsQuietLookMs: number;
    eventsPerLook: number;
  };
}
