/** An app to begin with. */
interface Example {
  name: string;
  /** What it shows, in a sentence. */
  about: string;
  /** Its manifests, in YAML. */
  text: string;
}

/** The folder `examples/`. The bundler puts what it holds in the place of this module: see `local/ui/bundle.ts`. */
export const examples: readonly Example[] = [];
