/**
 * Programs that open a page because a person has asked for it at that moment, each with its maker. Their visits are
 * none of a person, but neither does a crawler make them. Crawlers of the same makers have other names.
 */
export const assistants: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['ChatGPT-User', /\bChatGPT-User\b/i],
  ['Claude-User', /\bClaude-User\b|^claude-code\b/i],
  ['Perplexity-User', /\bPerplexity-User\b/i],
  ['MistralAI-User', /\bMistralAI-User\b/i],
  ['DuckAssistBot', /\bDuckAssistBot\b/i],
  ['Meta-ExternalFetcher', /\bmeta-externalfetcher\b/i],
  ['Google-NotebookLM', /\bGoogle-(?:NotebookLM|GeminiNotebook)\b/i],
  ['Google-Gemini-CLI', /\bGoogle-Gemini-CLI\b/i],
  // its other form, `Autonomous`, is of no person
  ['ModelContextProtocol', /^ModelContextProtocol\b.*\bUser-Specified\b/i],
  ['AmazonBuyForMe', /\bAmazonBuyForMe\b/i],
  ['NovaAct', /\bNovaAct\b/i],
  ['opencode', /^opencode\b/i],
  ['Sider', /^linkReader\b.*\bgochitchat\b/i],
  ['Google-Agent', /\bGoogle-?Agent(?:-Mariner)?\b/i],
  ['Gemini-Deep-Research', /\bGemini-Deep-Research\b/i],
  ['cohere-ai', /\bcohere-ai\b/i],
  ['Devin', /\bDevin\b.*\bdevin\b/i],
  ['PhindBot', /\bPhindBot\b/i],
  ['Grok', /\b(?:xAI-Grok|Grok-DeepSearch)\b/i],
  ['Kagi', /\bkagi-fetcher\b/i],
  // the name that most of them have agreed on: `Amzn-User`, `Manus-User`
  ['assistant', /\b[a-z]+-User\b(?=\/| \d|$|[ ;)])/i],
]
