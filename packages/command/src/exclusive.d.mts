import type { Progress } from "./progress.mjs";

export function exclusively<T>(
  root: string,
  command: string,
  action: () => Promise<T>,
  options?: { readonly signal?: AbortSignal; readonly progress?: Progress },
): Promise<T>;
