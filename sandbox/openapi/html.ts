const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

export const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, character => ENTITIES[character] ?? '')

/** Text with `code` in backticks and an empty line between paragraphs. */
export const prose = (text: string): string =>
  escaped(text)
    .replace(/`([^`]+)`/g, '<code>$1</code>')
    .replace(/\n\n/g, '</p><p>')

export const table = (caption: string, head: readonly string[], rows: readonly string[][]): string => {
  if (rows.length === 0) return ''
  const row = ([first = '', ...others]: string[]) =>
    `<tr><th scope="row">${first}</th>${others.map(cell => `<td>${cell}</td>`).join('')}</tr>`
  const titles = head.map(title => `<th scope="col">${title}</th>`).join('')
  return `<div class="table"><table><caption>${caption}</caption><thead><tr>${titles}</tr></thead>
<tbody>${rows.map(row).join('\n')}</tbody></table></div>`
}

const STYLE = `
:root { color-scheme: light dark; --line: light-dark(#d8dee4, #363c44); --soft: light-dark(#f5f7f9, #1d2126);
  --dim: light-dark(#57606a, #9aa4af); --mark: light-dark(#0d5f50, #6fd3bd); }
body { margin: 0 auto; padding: 1rem 1.25rem 4rem; max-width: 62rem; font: 16px/1.55 system-ui, sans-serif; }
h1 { font-size: 1.6rem; } h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); } h3 { margin: 0; font-size: 1rem; }
a { color: var(--mark); } code, pre, .path { font: .875em/1.5 ui-monospace, monospace; }
code { background: var(--soft); padding: .1em .3em; border-radius: .25em; overflow-wrap: anywhere; }
pre { background: var(--soft); padding: .75rem; border-radius: .4rem; white-space: pre-wrap; overflow-wrap: anywhere; }
article { border: 1px solid var(--line); border-radius: .5rem; padding: 1rem; margin: 1rem 0; }
.method { display: inline-block; min-width: 4.2em; font-weight: 700; color: var(--mark); text-transform: uppercase; }
.path { font-weight: 600; overflow-wrap: anywhere; } .dim { color: var(--dim); } .table { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; margin: .75rem 0; font-size: .9rem; }
caption { text-align: start; font-weight: 600; padding: .25rem 0; }
th, td { text-align: start; vertical-align: top; padding: .35rem .75rem .35rem 0; border-top: 1px solid var(--line); }
thead th { color: var(--dim); font-weight: 500; } tbody th { font-weight: 600; font-family: ui-monospace, monospace; }
nav ul { columns: 18rem; padding: 0; list-style: none; }`

/** A page that needs nothing from elsewhere. */
export const page = (title: string, body: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body>
${body}
</body>
</html>
`
