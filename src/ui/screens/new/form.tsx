import { fieldOf, portOf, withField, withPort } from "../../text/manifest-text.ts";

interface FormProps {
  text: string;
  setText: (text: string) => void;
  message: string;
  setMessage: (message: string) => void;
}

const fields: readonly [path: string, label: string, example: string][] = [
  ["scope", "Scope", "shop"],
  ["name", "Name", "web"],
  ["spec.image", "Image", "registry.example.com/shop/web:1.0.0"],
  ["spec.host", "Host; empty for none", "shop.example.com"],
  ["spec.ports", "Port that the app listens on", "8080"],
  ["spec.replicas", "Replicas", "1"],
];

const read = (text: string, path: string) => (path === "spec.ports" ? portOf(text) : fieldOf(text, path));

/** The usual fields of a manifest; an app from source has no image. */
export function Form({ text, setText, message, setMessage, isBuilt }: FormProps & { isBuilt: boolean }) {
  return (
    <>
      {fields
        .filter(([path]) => !isBuilt || path !== "spec.image")
        .map(([path, label, example]) => (
          <div key={path} class="field">
            <label for={path}>{label}</label>
            <input
              id={path}
              class="input"
              value={read(text, path)}
              placeholder={example}
              autocomplete="off"
              onInput={({ currentTarget: { value } }) =>
                setText(path === "spec.ports" ? withPort(text, value) : withField(text, path, value))
              }
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
