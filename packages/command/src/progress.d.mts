export function lastDuration(root: string, name: string): number | undefined;
export function recordDuration(root: string, name: string, seconds: number): void;
export function clock(seconds: number): string;
export function elapsed(start: number, expected?: number | undefined): string;
export class Progress {
  constructor(stream?: NodeJS.WriteStream);
  show(text: () => string): void;
  print(text: string): void;
  stop(): void;
}
