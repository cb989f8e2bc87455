import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "../../base/wire/client.ts";
import { faultText } from "./api.ts";

export interface Loaded<T> {
  /** The last answer, also while a newer one is on its way or has failed. */
  data?: T;
  fault?: string;
  /** The token lacks a scope. */
  denied?: boolean;
  /** When `data` came. */
  at?: number;
  again: () => void;
}

/**
 * Asks the server, once per `key`: what the answer depends on. With another `version` it asks again and shows what it has
 * until then. An older answer never replaces a newer one.
 */
export function useLoad<T>(key: string, ask: (signal: AbortSignal) => Promise<T>, version = ""): Loaded<T> {
  const [state, setState] = useState<Omit<Loaded<T>, "again"> & { key: string }>({ key });
  const [round, setRound] = useState(0);
  const asked = useRef(ask);
  asked.current = ask;
  useEffect(() => {
    const stop = new AbortController();
    asked.current(stop.signal).then(
      (data) => {
        if (!stop.signal.aborted) setState({ key, data, at: Date.now() });
      },
      (error: unknown) => {
        if (stop.signal.aborted) return;
        const denied = error instanceof ApiError && error.status === 403;
        setState((before) => ({ ...(before.key === key ? before : { key }), fault: faultText(error), denied }));
      },
    );
    return () => stop.abort();
  }, [key, round, version]);
  const again = () => setRound((count) => count + 1);
  return state.key === key ? { ...state, again } : { again };
}
