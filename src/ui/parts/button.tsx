import type { ComponentChildren } from "preact";

interface ButtonProps {
  children: ComponentChildren;
  onClick?: () => void;
  /** `main`: the one thing to do here; `danger`: it ends or removes something; `bare`: a small aside. */
  look?: "main" | "danger" | "bare" | "main danger";
  disabled?: boolean;
  /** Why it cannot be pressed; undefined where it can. */
  hindrance?: string | undefined;
  /** What it does. */
  title?: string | undefined;
  submits?: boolean;
}

export function Button({ children, onClick, look, disabled = false, hindrance, title, submits = false }: ButtonProps) {
  return (
    <button
      type={submits ? "submit" : "button"}
      class={look === undefined ? "button" : `button ${look}`}
      disabled={disabled || hindrance !== undefined}
      title={hindrance ?? title}
      onClick={onClick}
    >
      {children}
    </button>
  );
}
