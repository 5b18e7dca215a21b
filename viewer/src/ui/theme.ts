// Light and dark theme: that of the system, or the one chosen by hand.

import type { StageTheme } from "../scene/stage";

export type ThemeName = "light" | "dark";

const KEY = "riprap-theme";

const STAGES: Record<ThemeName, StageTheme> = {
  light: { top: [0.93, 0.94, 0.955], bottom: [0.80, 0.815, 0.84], ground: [0.86, 0.865, 0.875], edge: 0.2 },
  dark: { top: [0.17, 0.18, 0.2], bottom: [0.085, 0.09, 0.105], ground: [0.2, 0.208, 0.225], edge: 0.3 },
};

/** Applies and remembers the theme. */
export class Theme {
  name: ThemeName;

  constructor(private readonly changed: (name: ThemeName, stage: StageTheme) => void) {
    const system = window.matchMedia("(prefers-color-scheme: dark)");
    this.name = stored() ?? (system.matches ? "dark" : "light");
    system.addEventListener("change", () => {
      if (!stored()) this.set(system.matches ? "dark" : "light");
    });
  }

  apply(): void {
    this.set(this.name);
  }

  toggle(): void {
    this.set(this.name === "dark" ? "light" : "dark");
    try {
      localStorage.setItem(KEY, this.name);
    } catch {
      // Pages opened from disk may have no storage; the choice then holds until the page is closed.
    }
  }

  private set(name: ThemeName): void {
    this.name = name;
    document.documentElement.dataset.theme = name;
    this.changed(name, STAGES[name]);
  }
}

function stored(): ThemeName | null {
  try {
    const name = localStorage.getItem(KEY);
    return name === "light" || name === "dark" ? name : null;
  } catch {
    return null;
  }
}
