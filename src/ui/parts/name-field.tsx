import type { Signal } from "@preact/signals";
import type { ComponentChildren } from "preact";

interface NameFieldProps {
  id: string;
  name: Signal<string>;
  /** A name as an example. */
  hint: string;
  children?: ComponentChildren;
}

/** The name under which something is saved for every user. */
export function NameField({ id, name, hint, children }: NameFieldProps) {
  return (
    <div class="field">
      <label for={id}>Name</label>
      <input
        id={id}
        class="input mono"
        required
        maxLength={63}
        pattern="[a-z0-9]([a-z0-9\-]*[a-z0-9])?"
        title="lowercase letters, digits and dashes"
        placeholder={hint}
        autocomplete="off"
        value={name.value}
        onInput={(event) => {
          name.value = event.currentTarget.value;
        }}
      />
      {children}
    </div>
  );
}
