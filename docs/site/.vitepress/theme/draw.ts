import script from "@mermaid-js/tiny/dist/mermaid.tiny.js?url";

interface Mermaid {
  initialize(options: Readonly<Record<string, unknown>>): void;
  render(id: string, source: string): Promise<{ readonly svg: string }>;
}

let loaded: Promise<Mermaid> | undefined;

/** Loads Mermaid, which only pages with a diagram need. */
function load(): Promise<Mermaid> {
  loaded ??= new Promise((resolve, reject) => {
    const element = document.createElement("script");
    element.src = script;
    element.onload = () => resolve((globalThis as unknown as { readonly mermaid: Mermaid }).mermaid);
    element.onerror = () => reject(new Error(`Mermaid could not be loaded from ${script}`));
    document.head.append(element);
  });
  return loaded;
}

/** @returns the diagram as SVG */
export async function drawDiagram(id: string, source: string, isDark: boolean): Promise<string> {
  const mermaid = await load();
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: "strict",
    theme: isDark ? "dark" : "default",
    fontFamily: "inherit",
  });
  return (await mermaid.render(id, source)).svg;
}
