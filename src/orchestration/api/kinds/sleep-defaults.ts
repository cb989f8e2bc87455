/** What `wake` does where a spec is silent; the field tables and the controller both read it here. */
export const sleepDefaults = { idleAfter: "15m" } as const;
