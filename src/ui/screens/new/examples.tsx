import { examples } from "../../examples.ts";
import { withoutVariables } from "../../text/manifest-text.ts";

/** What the server comes with; choosing one fills form and manifest. */
export function Examples({ onChoose }: { onChoose: (text: string) => void }) {
  return (
    <section class="section" aria-label="Examples">
      <ul class="card choices">
        {examples.map(({ name, about, text }) => (
          <li key={name}>
            <button type="button" class="choice" onClick={() => onChoose(withoutVariables(text))}>
              <strong>{name}</strong>
              <span class="soft small">{about}</span>
            </button>
          </li>
        ))}
      </ul>
      <p class="soft small">
        The examples run on the image berth-demo/hello:1, which ./install.sh --demo makes. Write another one into the
        form where the server does not have it.
      </p>
    </section>
  );
}
