// What secrets look like: the prefixes and lengths that providers give their keys, as the rules of gitleaks and the
// providers' own pages say. Personal data is in pii-patterns.ts.
import type { SensitivePattern } from './sensitive-pattern.ts'

/**
 * A prefix that words can end with must not follow a letter or a digit; the others count wherever they stand. Where a
 * key's length is not fixed, all that goes on like it belongs to it.
 */
const patterns = {
  'anthropic-key': /sk-ant-[\w-]{20,}/,
  'openrouter-key': /sk-or-(?:v\d-)?[\w-]{20,}/,
  // The old form is any twenty characters with a digit among the first: without one it is words with hyphens.
  'openai-key':
    /(?<![A-Za-z0-9])sk-(?:(?:proj|svcacct|admin|service)-[\w-]{20,}|[A-Za-z_-]{0,12}\d[\w-]{19,}|[A-Za-z_-]{13,60}\d[\w-]{6,})/,
  'google-key': /AIza[\w-]{35}|GOCSPX-[\w-]{20,}|(?<![A-Za-z0-9])ya29\.[\w-]{20,}/,
  'aws-access-key': /(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Z0-9])/,
  'aws-secret-key': /aws.{0,20}?(?:secret|key).{0,20}?[=:>\s"']{1,6}[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])/i,
  'azure-key': /(?:AccountKey|SharedAccessKey)=[A-Za-z0-9/+]{40,}={0,2}/,
  'github-token': /gh[pousr]_[A-Za-z0-9]{36,}|github_pat_\w{50,}/,
  'gitlab-token': /gl(?:pat|ptt|rt|dt|ft|soat|imt|cbt|agent|oas|ffct)-[\w.-]{20,}/,
  'slack-token':
    /xox[abeoprs](?:\.xox[bp])?-[\w-]{10,}|xapp-\d-[\w-]{10,}|hooks\.slack\.com\/(?:services|workflows|triggers)\/[\w/+]{40,}/,
  'stripe-key': /[rs]k_(?:live|test|prod)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9]{24,}/,
  'npm-token': /npm_[A-Za-z0-9]{36}/,
  'pypi-token': /pypi-[\w-]{50,}/,
  'huggingface-token': /(?<![A-Za-z0-9])(?:hf|api_org)_[A-Za-z0-9]{30,}/,
  'groq-key': /(?<![A-Za-z0-9])gsk_[A-Za-z0-9]{40,}/,
  'xai-key': /(?<![A-Za-z0-9])xai-[A-Za-z0-9]{60,}/,
  'perplexity-key': /(?<![A-Za-z0-9])pplx-[A-Za-z0-9]{40,}/,
  'replicate-token': /(?<![A-Za-z0-9])r8_[A-Za-z0-9]{30,}/,
  'sendgrid-key': /(?<![A-Za-z0-9])SG\.[\w-]{16,}\.[\w-]{16,}/,
  'twilio-key': /(?<![A-Za-z0-9])SK[0-9a-f]{32}(?![A-Za-z0-9])/,
  'mailgun-key': /(?<![A-Za-z0-9])key-[0-9a-f]{32}(?![A-Za-z0-9])/,
  'brevo-key': /xkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16}/,
  'digitalocean-token': /do[opr]_v1_[0-9a-f]{64}/,
  'databricks-token': /(?<![A-Za-z0-9])dapi[0-9a-f]{32}(?:-\d)?(?![A-Za-z0-9])/,
  'shopify-token': /shp(?:at|ca|pa|ss)_[0-9A-Fa-f]{32}/,
  'square-token': /sq0(?:atp|csp)-[\w-]{22,}|(?<![A-Za-z0-9])EAAA[\w-]{56,}/,
  'telegram-token': /(?<![A-Za-z0-9])\d{8,10}:AA[\w-]{33}(?![\w-])/,
  'discord-token': /(?<![\w-])[MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27,38}/,
  'vault-token': /(?<![A-Za-z0-9])hv[bs]\.[\w-]{24,}/,
  // Its first part is an id.
  'terraform-token': /(?<=\.)atlasv1\.[\w=-]{60,}/,
  'atlassian-token': /ATATT3[\w=-]{60,}/,
  'linear-key': /lin_(?:api|oauth)_[A-Za-z0-9]{32,}/,
  'notion-token': /(?<![A-Za-z0-9])(?:ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43})/,
  'postman-key': /PMAK-[0-9a-f]{24}-[0-9a-f]{34}/,
  'grafana-token': /gl(?:c_[\w+/]{32,}={0,2}|sa_\w{32}_[0-9A-Fa-f]{8})/,
  'newrelic-key': /NR(?:AK|II|JS)-[A-Za-z0-9-]{19,}/,
  'sentry-token': /sntry[su]_[\w+/=-]{40,}/,
  'supabase-token': /(?<![A-Za-z0-9])sb(?:p_[0-9a-f]{40}|_secret_[\w-]{20,})/,
  'docker-token': /dckr_(?:pat|oat)_[\w-]{20,}/,
  'pulumi-token': /(?<![A-Za-z0-9])pul-[0-9a-f]{40}/,
  'rubygems-token': /rubygems_[0-9a-f]{48}/,
  'planetscale-token': /pscale_(?:tkn|oauth|pw)_[\w=.-]{32,}/,
  'doppler-token': /dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{40,}/,
  'age-key': /AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}/,
  'url-password': /:\/\/[^\s:/?#@]{0,64}:[^\s/?#@]{1,128}@(?=[\w[])/,
  jwt: /eyJ[\w-]{5,}\.(?:eyJ[\w-]{5,}\.[\w-]*|[\w-]*\.[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,})/,
} as const satisfies Record<string, RegExp>

const separator = String.raw`(?:\s|\\[nrt]|["',+>|#*])`
const frame = (word: string) => String.raw`-----${word} [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----`

/** From its first line to its last; of a key without a last line, all that looks like its inside. */
const privateKey = new RegExp(
  frame('BEGIN') +
    String.raw`(?:${separator}*[A-Za-z-]{3,20}: [^\n\r\\]{1,100}(?:\s|\\[nr]))*` +
    String.raw`(?:${separator}*[A-Za-z0-9+/]{16,}={0,2})*` +
    String.raw`(?:(?:${separator}+[A-Za-z0-9+/=]{1,15})?${separator}*${frame('END')})?`,
)

/** A kind of secret that this package knows. */
export type SecretKind = keyof typeof patterns | 'private-key'

/** The patterns, in the order in which they win over another of the same length. */
export const secretPatterns: readonly (SensitivePattern & { readonly kind: SecretKind })[] = [
  { kind: 'private-key', pattern: privateKey, mask: () => '********' },
  ...(Object.entries(patterns) as [SecretKind, RegExp][]).map(([kind, pattern]) => ({
    kind,
    pattern,
    mask: () => '********',
  })),
]
