import { fieldOf, withField } from "../../text/manifest-text.ts";

interface FormProps {
  text: string;
  setText: (text: string) => void;
  message: string;
  setMessage: (message: string) => void;
}

const fields: readonly [string, string][] = [
  ["scope", "Scope"],
  ["name", "Name"],
  ["spec.image", "Image"],
  ["spec.host", "Host"],
  ["spec.replicas", "Replicas"],
];

/** The usual fields of a manifest; an app from source has no image. */
export function Form({ text, setText, message, setMessage, isBuilt }: FormProps & { isBuilt: boolean }) {
  return (
    <>
      {fields
        .filter(([path]) => !isBuilt || path !== "spec.image")
        .map(([path, label]) => (
          <div key={path} class="field">
            <label for={path}>{label}</label>
            <input
              id={path}
              class="input"
              value={fieldOf(text, path)}
              autocomplete="off"
              onInput={(event) => setText(withField(text, path, event.currentTarget.value))}
            />
          </div>
        ))}
      <div class="field">
        <label for="message">Why, in a line; the list of deploys shows it</label>
        <input
          id="message"
          class="input"
          maxLength={500}
          value={message}
          onInput={(event) => setMessage(event.currentTarget.value)}
        />
      </div>
    </>
  );
}
