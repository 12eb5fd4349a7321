import { Verbatim } from "../../components/verbatim.tsx";

interface Properties {
  /** Separated by spaces. */
  readonly words: string;
}

/** The words of a wallet, with their positions. */
export function WordList({ words }: Properties) {
  const list = words.split(" ").map((word, at) => ({ word, at }));
  return (
    <Verbatim as="ol" className="words" aria-label="The 24 words">
      {list.map(({ word, at }) => (
        <li key={at}>{word}</li>
      ))}
    </Verbatim>
  );
}
