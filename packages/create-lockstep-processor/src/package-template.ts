// The files of a new package that are about packages: manifest, compiler, changeset, README.
import type { ProcessorName } from './processor-name.ts'
import { lockstepVersion, toolVersions } from './versions.ts'

/** The files by their paths. */
export function packageFiles(name: ProcessorName): Readonly<Record<string, string>> {
  return {
    'package.json': json(manifest(name)),
    'tsconfig.json': json(compilerOptions),
    'tsconfig.build.json': json(buildOptions),
    '.gitignore': 'node_modules/\ndist/\n*.tgz\n',
    '.changeset/config.json': json(changesetConfig),
    '.changeset/first-version.md': firstChange(name),
    'README.md': readme(name),
  }
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

function manifest({ packageName, id }: ProcessorName): object {
  const version = lockstepVersion()
  const { ai, typescript, vitest, zod } = toolVersions
  return {
    name: packageName,
    version: '0.0.0',
    description: 'A processor for Lockstep: takes words out of what a model says.',
    keywords: ['lockstep', 'lockstep-processor', 'guardrail', 'llm'],
    license: 'MIT',
    type: 'module',
    sideEffects: false,
    engines: { node: '>=22' },
    files: ['dist'],
    exports: {
      '.': { types: `./dist/${id}.d.ts`, default: `./dist/${id}.js` },
      './package.json': './package.json',
    },
    scripts: {
      build: 'tsc -p tsconfig.build.json',
      test: 'vitest run',
      typecheck: 'tsc -p tsconfig.json',
      changeset: 'npx --yes @changesets/cli@3',
      prepack: 'npm run typecheck && npm test && npm run build',
    },
    peerDependencies: { '@lockstep/processors': version },
    devDependencies: {
      '@lockstep/processors': version,
      '@lockstep/testing': version,
      ai,
      typescript,
      vitest,
      zod,
    },
  }
}

const compilerOptions = {
  compilerOptions: {
    module: 'NodeNext',
    target: 'ES2023',
    lib: ['ES2023', 'DOM'],
    types: [],
    strict: true,
    noUncheckedIndexedAccess: true,
    verbatimModuleSyntax: true,
    erasableSyntaxOnly: true,
    rewriteRelativeImportExtensions: true,
    skipLibCheck: true,
    noEmit: true,
  },
  include: ['src', 'test'],
}

const buildOptions = {
  extends: './tsconfig.json',
  compilerOptions: { noEmit: false, declaration: true, rootDir: 'src', outDir: 'dist' },
  include: ['src'],
}

const changesetConfig = {
  $schema: 'https://unpkg.com/@changesets/config/schema.json',
  changelog: '@changesets/cli/changelog',
  commit: false,
  access: 'public',
  baseBranch: 'main',
}

function firstChange({ packageName }: ProcessorName): string {
  return `---
'${packageName}': minor
---

The first version: takes words out of what a model says.
`
}

function readme({ packageName, functionName, id }: ProcessorName): string {
  return `# ${packageName}

A processor for [Lockstep](https://www.npmjs.com/package/@lockstep/agent). It takes words out of what a model says, while
it is being said, however the text is cut into chunks.

\`\`\`sh
npm i ${packageName} @lockstep/agent ai zod
\`\`\`

\`\`\`ts
import { Agent } from '@lockstep/agent'
import { ${functionName} } from '${packageName}'

const agent = new Agent({
  name: 'clerk',
  model: 'openai/gpt-5',
  outputProcessors: [${functionName}({ words: ['darn'] })],
})
\`\`\`

| option | |
|---|---|
| \`words\` | the words to take out, in upper or lower case |
| \`replacement\` | what stands in their place: \`'***'\` when absent |

A word is held back until it ends, and nothing else is. It does not look into reasoning, tool calls and their results, and
does not know other forms of a word (\`darned\`).

## Development

| command | what it does |
|---|---|
| \`npm test\` | the laws that every processor keeps, and the tests of this one |
| \`npm run typecheck\` | checks the types |
| \`npm run build\` | makes what is published |
| \`npm run changeset\` | writes the sentence that tells users what has changed; \`npm run changeset -- version\` makes a version of them |

The processor is \`src/${id}.ts\`. Change it, and give \`processorContract\` in \`test/${id}.test.ts\` texts on which yours acts.
`
}
