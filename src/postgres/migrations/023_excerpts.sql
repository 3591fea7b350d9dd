-- A receiver may have repeated what a visitor wrote, which can be erased without its account: see `sendMessage`.
update state.webhook_deliveries set excerpt = '' where type = 'AnswerGiven' and excerpt <> '';
