import { useState } from "preact/hooks";
import { go, query, withQuery } from "../../frame/router.ts";
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

/** How many rows are asked for: more each time that the viewer wants more. */
export function useMore(next: string | undefined, limit: number, setLimit: (limit: number) => void) {
  if (next === undefined || limit >= most) return null;
  return (
    <p>
      <Button onClick={() => setLimit(Math.min(most, limit * 4))}>Show more</Button>
    </p>
  );
}

export const firstRows = first;

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
