/** What a person typed, sent as it is: the server says what is wrong with it. */
export const unchecked = <T>(typed: unknown): T => typed as T;
