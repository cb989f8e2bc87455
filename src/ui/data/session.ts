import { computed, signal } from "@preact/signals";
import { ApiError } from "../../base/wire/client.ts";
import type { DataOf } from "../../base/wire/endpoint.ts";
import { signOut } from "../../observability/api/sessions.ts";
import { whoami } from "../../observability/api/whoami.ts";
import { api, faultText } from "./api.ts";
import { staleText } from "./connection.ts";

type Who = DataOf<typeof whoami>;

/** asking; in; out: the sign-in page is shown; fault: the server does not answer. */
export const session = signal<
  { state: "asking" | "out" } | { state: "in"; who: Who } | { state: "fault"; text: string }
>({
  state: "asking",
});

const scopes = computed(() => (session.value.state === "in" ? session.value.who.scopes : []));

/** Whether the viewer may do something; buttons that may not be pressed say so. */
export function may(scope: string): boolean {
  return scopes.value.includes(scope);
}

/** Why a button cannot be pressed, or nothing where it can: a scope is missing, or the server does not answer. */
export function lacks(scope: string): string | undefined {
  return may(scope) ? staleText.value : `Your token has no scope ${scope}`;
}

/** Ends the session on the server; without an answer it is ended here at least. */
export async function leave(): Promise<void> {
  await api.call(signOut).catch(() => undefined);
  location.replace("/");
}

export async function askWho(): Promise<boolean> {
  try {
    session.value = { state: "in", who: await api.call(whoami) };
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) session.value = { state: "out" };
    else session.value = { state: "fault", text: faultText(error) };
    return false;
  }
}
