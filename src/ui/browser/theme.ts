import { computed, effect, signal } from "@preact/signals";

type Theme = "light" | "dark" | "system";

const key = "berth-theme";
const dark = matchMedia("(prefers-color-scheme: dark)");
const systemIsDark = signal(dark.matches);

/** What the viewer chose; kept in this browser. */
export const theme = signal<Theme>(kept());

export const isDark = computed(() => theme.value === "dark" || (theme.value === "system" && systemIsDark.value));

export function startTheme(): void {
  dark.addEventListener("change", () => {
    systemIsDark.value = dark.matches;
  });
  effect(() => {
    document.documentElement.dataset.theme = isDark.value ? "dark" : "light";
  });
}

export function chooseTheme(chosen: Theme): void {
  theme.value = chosen;
  try {
    localStorage.setItem(key, chosen);
  } catch {
    // A browser that keeps nothing shows the choice until it is closed.
  }
}

function kept(): Theme {
  try {
    const value = localStorage.getItem(key);
    return value === "light" || value === "dark" ? value : "system";
  } catch {
    return "system";
  }
}
