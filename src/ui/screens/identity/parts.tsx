import { useState } from "preact/hooks";
import { useLoad } from "../../data/load.ts";
import { go, query, withQuery } from "../../browser/router.ts";
import { Button } from "../../parts/button.tsx";

/** What is looked for; it stands in the address. */
export function Search({ label, hint }: { label: string; hint: string }) {
  const [typed, setTyped] = useState(query.value.get("q") ?? "");
  return (
    <form
      class="row search"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        go(withQuery({ q: typed }), { replace: true });
      }}
    >
      <input
        class="input"
        type="search"
        aria-label={label}
        placeholder={hint}
        value={typed}
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
      <Button submits>Search</Button>
    </form>
  );
}

const first = 50;
const most = 1_000;

/** Rows of a search, and the button that asks for more of them. */
export function useRows<T extends { next?: string }>(
  key: string,
  ask: (limit: string, signal: AbortSignal) => Promise<T>,
) {
  const [limit, setLimit] = useState(first);
  const loaded = useLoad(key, (signal) => ask(String(limit), signal), String(limit));
  const isAll = loaded.data?.next === undefined || limit >= most;
  const more = isAll ? null : (
    <p>
      <Button onClick={() => setLimit(Math.min(most, limit * 4))}>Show more</Button>
    </p>
  );
  return { loaded, more };
}

interface FieldProps {
  id: string;
  label: string;
  value: string;
  /** A password: shown as dots, and kept by no password manager of the operator. */
  secret?: boolean;
  hint?: string;
  onInput: (value: string) => void;
}

export function Field({ id, label, value, secret = false, hint, onInput }: FieldProps) {
  const rest = {
    ...{ id, value, class: "input", placeholder: hint },
    onInput: (event: { currentTarget: { value: string } }) => onInput(event.currentTarget.value),
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {secret ? (
        <input type="password" autocomplete="new-password" {...rest} />
      ) : (
        <input type="text" autocomplete="off" {...rest} />
      )}
    </div>
  );
}
