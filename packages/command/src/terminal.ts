// A command's output: columns, tables and how long actions take. It has colours only on a terminal.
import { stripVTControlCharacters, styleText } from "node:util";

const MAX_WIDTH = 120;
const MIN_WIDTH = 60;
/** The width if the output is not a terminal. */
const DEFAULT_WIDTH = 80;
/** Minimum width of a column: in narrower ones, lines have too few words. */
const MIN_COLUMN = 30;
const SEPARATOR = " | ";
const INDENT = "   ";

export interface Screen {
  readonly width: number;
  readonly colours: boolean;
  write(text: string): void;
}

export function screenOf(stream: NodeJS.WriteStream): Screen {
  const width = Math.max(MIN_WIDTH, Math.min(MAX_WIDTH, stream.isTTY ? stream.columns : DEFAULT_WIDTH));
  const colours = stream.isTTY === true && stream.hasColors() && !process.env["NO_COLOR"];
  return { width, colours, write: (text) => void stream.write(text) };
}

type Style = Parameters<typeof styleText>[0];

/** The text in a style, if the screen has colours. */
export const paint = (screen: Screen, style: Style, text: string): string =>
  screen.colours ? styleText(style, text, { validateStream: false }) : text;

/** Breaks a text into lines of at most `width` characters; longer words are broken too. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    let rest = word;
    if (line !== "" && line.length + 1 + rest.length > width) {
      lines.push(line);
      line = "";
    }
    while (rest.length > width) {
      lines.push(rest.slice(0, width));
      rest = rest.slice(width);
    }
    line = line === "" ? rest : `${line} ${rest}`;
  }
  return [...lines, line];
}

/** Prints columns side by side, or one below the other if they would be too narrow; a dash marks each paragraph. */
export function columns(titles: readonly string[], cells: readonly (readonly string[])[], screen: Screen): string {
  const width = Math.floor((screen.width - SEPARATOR.length * (titles.length - 1)) / titles.length);
  if (width < MIN_COLUMN && titles.length > 1)
    return titles.map((title, index) => columns([title], [cells[index] ?? []], screen)).join("");
  const wrapped = cells.map((paragraphs) =>
    paragraphs.flatMap((text) => wrap(text, width - 2).map((line, index) => (index === 0 ? "- " : "  ") + line)),
  );
  const height = Math.max(...wrapped.map((lines) => lines.length));
  const row = (texts: readonly string[]) =>
    texts
      .map((text) => pad(text, width))
      .join(SEPARATOR)
      .trimEnd();
  const body = Array.from({ length: height }, (_, index) => row(wrapped.map((lines) => lines[index] ?? "")));
  return [row(titles.map((title) => paint(screen, "bold", title))), ...body].map((line) => `${line}\n`).join("");
}

/** Aligns the columns of a table. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => visible(row[column] ?? ""))));
  return rows
    .map(
      (row) =>
        `${row
          .map((text, column) => pad(text, widths[column] ?? 0))
          .join("  ")
          .trimEnd()}\n`,
    )
    .join("");
}

/** Indents lines below a step's title. */
export const indent = (text: string): string => text.replaceAll(/^(?=.)/gm, INDENT);

/** Writes a wrapped text below a step's title. */
export function say(screen: Screen, text: string, style?: Style): void {
  for (const line of wrap(text, screen.width - INDENT.length))
    screen.write(`${INDENT}${style === undefined ? line : paint(screen, style, line)}\n`);
}

const visible = (text: string) => stripVTControlCharacters(text).length;
const pad = (text: string, width: number) => text + " ".repeat(Math.max(0, width - visible(text)));

/** Announces an action and shows how long it took. */
export async function progress<T>(screen: Screen, what: string, action: () => Promise<T>): Promise<T> {
  const start = performance.now();
  screen.write(paint(screen, "dim", `${INDENT}${what} ... `));
  try {
    return await action();
  } finally {
    screen.write(paint(screen, "dim", `${((performance.now() - start) / 1000).toFixed(1)} s\n`));
  }
}
