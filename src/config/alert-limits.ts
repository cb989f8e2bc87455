const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** Limits of alerts and incidents; see `config.ts` for those of everything else. */
export const alertLimits = {
  plan: {
    /** A new alert waits this long for others of its group, so that they share a message. */
    waitMs: 15_000,
    /** Between two messages of one group. */
    intervalMs: 5 * minute,
    /** More messages than these within `stormMs`, and all groups share one message each `intervalMs`. */
    stormMessages: 8,
    stormMs: 10 * minute,
    /** How long until an alert that was not acknowledged is sent again; 0: never. */
    repeatMs: { critical: 4 * hour, warning: day, info: 0 },
  },
  /** Between two looks at everything, and how long a look waits for one part of it. */
  everyMs: 15_000,
  readMs: 10_000,
  /** The first look after a start: what runs must have been seen by then. */
  firstMs: 20_000,
  /** How often what is beyond the limits below is deleted. */
  tidyMs: 10 * minute,
  /** Longest wait for the end of an alert that flaps, and how far back its times are counted. */
  keepMaxMs: 30 * minute,
  flapWindowMs: hour,
  /** Alerts that are pending or fire, in all and of one rule in one look; more are not begun. */
  openMax: 2_000,
  perRuleMax: 500,
  /** Alerts of one look whose causes are asked for. */
  whysPerRound: 5,
  historyKept: 10_000,
  messagesKept: 1_000,
  silencesMax: 500,
  channelsMax: 50,
  rulesMax: 500,
  pageMax: 500,
  /** Pauses between the attempts at a message: one more attempt than there are pauses. */
  pausesMs: [5_000, 30_000, 2 * minute, 10 * minute, hour],
  inFlightMax: 4,
  /** A message that could not be sent for so long is dropped. */
  staleMs: 6 * hour,
  /** Like `staleMs`, for the end of an alert that the channel has heard of: without it an incident stays open there. */
  staleEndMs: 7 * day,
  /** Time limit of one attempt, and of one that the test button makes, mail included. */
  timeoutMs: 10_000,
  testMs: 35_000,
  /** Pauses of the dead man's switch: the shortest and the usual one, and the one after a ping that failed. */
  heartbeatLeastMs: 30_000,
  heartbeatMs: 5 * minute,
  heartbeatRetryMs: 30_000,
  heartbeatBodyBytesMax: 64 * 1024,
  /** For the survival budgets of past months. */
  outagesKeptMs: 400 * day,
  /** Troubles of one app that are closer than this are one incident. */
  incidentGapMs: 10 * minute,
  /** How far before a trouble its timeline begins. */
  timelineMs: 30 * minute,
  /** Availability in a month, where an operator has set nothing for the app. */
  availabilityPercent: 99.9,
} as const;
