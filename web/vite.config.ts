import { defineConfig, type Plugin } from "vite";

// Puts the script and the style into the page itself: one file, which needs nothing beside it.
function oneFile(): Plugin {
  return {
    name: "one-file",
    enforce: "post",
    generateBundle(_, bundle) {
      const page = bundle["index.html"];
      if (page?.type !== "asset") throw new Error("there is no index.html to put things into");
      let html = String(page.source);
      for (const [name, part] of Object.entries(bundle)) {
        if (part.type === "chunk") {
          const code = part.code.replaceAll("</script", "<\\/script");
          html = html.replace(/\s*<script type="module"[^>]*><\/script>/, "");
          html = html.replace("</body>", () => `<script type="module">\n${code}</script>\n</body>`);
          delete bundle[name];
        } else if (name.endsWith(".css")) {
          html = html.replace(/\s*<link rel="stylesheet"[^>]*>/, () => `\n<style>\n${part.source}</style>`);
          delete bundle[name];
        }
      }
      page.source = html;
      const left = Object.keys(bundle).filter((name) => name !== "index.html");
      if (left.length) throw new Error(`these would be files of their own: ${left.join(", ")}`);
    },
  };
}

export default defineConfig({
  plugins: [oneFile()],
  build: { target: "es2022", modulePreload: false, cssCodeSplit: false, assetsInlineLimit: 1 << 20 },
});
