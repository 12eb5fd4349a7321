/** Offers a text as a download. */
export function saveText(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

/** A date for file names: 2026-11-22. */
export const today = (): string => new Date().toISOString().slice(0, 10);
